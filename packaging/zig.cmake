# A toolchain file for CMake: compiles with the clang, the libc++ and the glibc of the Python package
# `ziglang`, of which nothing but libc is left to be found at run time.
#
#   ZIG         the program
#   ZIG_TARGET  what the result runs on: x86_64-linux-gnu.2.17, aarch64-linux-gnu.2.28
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG ZIG_TARGET)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${ZIG_TARGET}")
set(CMAKE_SYSTEM_NAME Linux)

# The baseline CPU: without a word zig compiles for the machine that it runs on. Left to itself it
# would also keep debug information, frame pointers and, in builds without -O, checks of its own.
# With these options everywhere it compiles its libc++ once, not again for CMake's first question.
set(CMAKE_CXX_COMPILER ${ZIG} c++ -target ${ZIG_TARGET} -mcpu=baseline -g0 -fomit-frame-pointer
                       -fno-sanitize=undefined -O2 -fPIC -s)

# What CMake asks is asked without linking: zig compiles libc++ before it first links.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# Programs of zig are words after its name, which CMAKE_AR cannot say.
set(CMAKE_AR ${ZIG})
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> ar qcsD <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> ar qsD <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "")

# The machine's own knows only the machine's own files; the linker has stripped (-s). Nothing but the
# module's entry is to be seen: LLVM's libraries are part of it.
set(CMAKE_STRIP "" CACHE FILEPATH "")
string(APPEND CMAKE_MODULE_LINKER_FLAGS_INIT
       " -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map")
