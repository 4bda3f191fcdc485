// The names of the system's unwinder, libgcc_s.so.1, for the linker alone: at run time the system's
// own is found. glibc unwinds with it the stack of a thread that ends before its time, and a frame of
// the extension has to understand what it says; LLVM's unwinder, which zig would link, does not.
extern "C" {
void _Unwind_Backtrace() {}
void _Unwind_DeleteException() {}
void _Unwind_GetIP() {}
void _Unwind_GetIPInfo() {}
void _Unwind_GetLanguageSpecificData() {}
void _Unwind_GetRegionStart() {}
void _Unwind_RaiseException() {}
void _Unwind_Resume() {}
void _Unwind_Resume_or_Rethrow() {}
void _Unwind_SetGR() {}
void _Unwind_SetIP() {}
}
