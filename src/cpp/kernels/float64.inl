// Elements of every real type as float64, a piece at a time. Included inside the tier's anonymous
// namespace by tier.inl.

// Pieces of two tensors stay in the first-level cache. Eight elements fill whole bytes of any type.
inline constexpr std::size_t kPieceElements = 512;

// Elements that the language converts: compilers turn this into vector code.
template <class T>
void values_to_float64(const std::byte* data, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<double>(load<T>(data + i * sizeof(T)));
}

inline void booleans_to_float64(const std::byte* data, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = data[i] != std::byte{0} ? 1 : 0;
}

inline void bfloat16_to_float64(const std::byte* data, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto code = static_cast<std::uint32_t>(load<std::uint16_t>(data + i * 2));
    out[i] = static_cast<double>(std::bit_cast<float>(code << 16));
  }
}

// Vectors of elements that compilers do not convert well.
struct Float16Lanes {
  static constexpr std::size_t kBytes = 2;
  static Vec<double> at(const std::byte* p) { return widen(load_float16(p)); }
};

struct Bfloat16Lanes {
  static constexpr std::size_t kBytes = 2;
  static Vec<double> at(const std::byte* p) { return widen(load_bfloat16(p)); }
};

struct Float32Lanes {
  static constexpr std::size_t kBytes = 4;
  static Vec<double> at(const std::byte* p) { return widen(load<Half<float>>(p)); }
};

struct Float64Lanes {
  static constexpr std::size_t kBytes = 8;
  static Vec<double> at(const std::byte* p) { return load<Vec<double>>(p); }
};

template <class T>
struct Integer64Lanes {
  static constexpr std::size_t kBytes = 8;
  static Vec<double> at(const std::byte* p) {
    return to_float64<std::is_signed_v<T>>(load<Vec<std::uint64_t>>(p));
  }
};

template <LaneLoader Lanes>
void lanes_to_float64(const std::byte* data, std::size_t n, double* out) {
  constexpr std::size_t kStep = kWidth<double>;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep) store(out + i, Lanes::at(data + i * Lanes::kBytes));
  if (i == n) return;
  std::byte last[kStep * Lanes::kBytes] = {};
  std::memcpy(last, data + i * Lanes::kBytes, (n - i) * Lanes::kBytes);
  double values[kStep];
  store(values, Lanes::at(last));
  std::memcpy(out + i, values, (n - i) * sizeof(double));
}

inline void float16_to_float64(const std::byte* data, std::size_t n, double* out) {
  lanes_to_float64<Float16Lanes>(data, n, out);
}

using ToFloat64 = void (*)(const std::byte* data, std::size_t n, double* out);

// Through codes of a wider type, whose values are 2^kExponent too small.
template <Decoder D, ToFloat64 kConvert, int kExponent = 0>
void decoded_to_float64(const std::byte* data, std::size_t n, double* out) {
  alignas(64) std::byte codes[kPieceElements * 2];
  D::decode(data, n, codes);
  kConvert(codes, n, out);
  if constexpr (kExponent != 0) {
    for (std::size_t i = 0; i < n; ++i) out[i] *= power_of_two(kExponent);
  }
}

// n <= kPieceElements elements, unless they are complex; those are not written.
inline void elements_to_float64(Element element, const std::byte* data, std::size_t n,
                                double* out) {
  switch (element) {
    case Element::float64:
      return values_to_float64<double>(data, n, out);
    case Element::float32:
      return values_to_float64<float>(data, n, out);
    case Element::float16:
      return float16_to_float64(data, n, out);
    case Element::bfloat16:
      return bfloat16_to_float64(data, n, out);
    case Element::int8:
      return values_to_float64<std::int8_t>(data, n, out);
    case Element::uint8:
      return values_to_float64<std::uint8_t>(data, n, out);
    case Element::int16:
      return values_to_float64<std::int16_t>(data, n, out);
    case Element::uint16:
      return values_to_float64<std::uint16_t>(data, n, out);
    case Element::int32:
      return values_to_float64<std::int32_t>(data, n, out);
    case Element::uint32:
      return values_to_float64<std::uint32_t>(data, n, out);
    case Element::int64:
      return lanes_to_float64<Integer64Lanes<std::int64_t>>(data, n, out);
    case Element::uint64:
      return lanes_to_float64<Integer64Lanes<std::uint64_t>>(data, n, out);
    case Element::boolean:
      return booleans_to_float64(data, n, out);
    case Element::float8_e4m3fn:
      return decoded_to_float64<E4m3fnToFloat16, float16_to_float64, E4m3fn::kExponent>(data, n,
                                                                                        out);
    case Element::float8_e5m2:
      return decoded_to_float64<E5m2ToFloat16, float16_to_float64, E5m2::kExponent>(data, n, out);
    case Element::float8_e8m0fnu:
      return decoded_to_float64<E8m0ToBfloat16, bfloat16_to_float64, E8m0::kExponent>(data, n, out);
    case Element::hifloat8:
      return decoded_to_float64<Hifloat8ToFloat16, float16_to_float64, Hifloat8::kExponent>(data, n,
                                                                                            out);
    case Element::float4_e2m1fn:
      return decoded_to_float64<E2m1ToFloat16, float16_to_float64, E2m1::kExponent>(data, n, out);
    case Element::float4_e1m2:
      return decoded_to_float64<E1m2ToFloat16, float16_to_float64, E1m2::kExponent>(data, n, out);
    case Element::int4:
      return decoded_to_float64<Int4ToInt8, values_to_float64<std::int8_t>>(data, n, out);
    case Element::int2:
      return decoded_to_float64<Int2ToInt8, values_to_float64<std::int8_t>>(data, n, out);
    case Element::uint2:
      return decoded_to_float64<Uint2ToUint8, values_to_float64<std::uint8_t>>(data, n, out);
    case Element::uint1:
      return decoded_to_float64<Uint1ToUint8, values_to_float64<std::uint8_t>>(data, n, out);
    case Element::none:
    case Element::complex32:
    case Element::complex64:
    case Element::complex128:
      return;
  }
}
