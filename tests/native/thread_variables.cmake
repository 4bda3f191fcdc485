# The handler of SIGBUS must not allocate: its variables of a thread are not looked up by a function
# of the dynamic loader, as they are in a library by default.
execute_process(COMMAND ${NM} ${LIBRARY} OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "\npage_guard[^\n]*:\n([^\n]+\n)*" symbols "${listing}")
if(NOT symbols MATCHES "guarded")
  message(SEND_ERROR "${LIBRARY} has no page guard")
elseif(symbols MATCHES "__tls_get_addr")
  message(SEND_ERROR "the page guard calls __tls_get_addr:\n${symbols}")
endif()
