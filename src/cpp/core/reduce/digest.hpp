// What stands for bytes that nobody keeps, to tell whether those of two tensors are the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fastdump {

// Two polynomials of the bytes, seven of them a coefficient, each modulo the prime 2^61 - 1 and at
// a point of its own. Polynomials of n coefficients that are not the same agree at fewer than n
// points: with points drawn at random, different bytes have the same digest with a probability
// below (n / (2^61 - 1))^2, whoever chose the bytes. That is 2^-99 for 16 KiB.
using Digest = std::array<std::uint64_t, 2>;  // each below 2^61 - 1
using DigestPoints = std::array<std::uint64_t, 2>;

// Drawn when they are first asked for, for as long as the process lives.
const DigestPoints& digest_points();

Digest digest_of(std::span<const std::byte> bytes, const DigestPoints& points);

}  // namespace fastdump
