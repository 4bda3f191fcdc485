// The structs by which array libraries hand memory to each other, as the ABI of DLPack 1.1 has
// them: https://dmlc.github.io/dlpack/latest/c_api.html. Plain declarations, ours.
#pragma once

#include <cstdint>

extern "C" {

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements
  std::uint64_t byte_offset;
};

// Before version 1.0: a capsule called "dltensor".
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

// Since version 1.0: a capsule called "dltensor_versioned".
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor dl_tensor;
};
}

namespace fastdump::bindings {

inline constexpr std::int32_t kDlCpu = 1;                // kDLCPU
inline constexpr std::uint64_t kDlReadOnly = 1U << 0;    // DLPACK_FLAG_BITMASK_READ_ONLY
inline constexpr std::uint64_t kDlIsCopied = 1U << 1;    // DLPACK_FLAG_BITMASK_IS_COPIED
inline constexpr DLPackVersion kDlPackVersion = {1, 1};  // the first with 8-bit floats

}  // namespace fastdump::bindings
