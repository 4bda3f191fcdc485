// Dump files that are valid, one of each kind, with everything that a header may hold.
#pragma once

#include <string>
#include <vector>

#include "nano_file.hpp"
#include "npy_file.hpp"
#include "standard_file.hpp"

namespace fastdump::fuzz {

using tests::Message;

inline Message original_op() {
  return Message().text(1, "scope/op").number(2, 1).number(3, 1).number(4, 2);
}

inline std::string slices_json() {
  return R"({"threadMode":1,"slice_instance_num":2,)"
         R"("input_tensor_slice":[[[{"lower":0,"higher":2}]],[[{"lower":2,"higher":4}]]],)"
         R"("output_tensor_slice":[[[{"lower":0,"higher":1}]],[[{"lower":1,"higher":4}]]]})";
}

// Every field of the schema. Payloads of 8, 16, 4 and 2 bytes.
inline Message full_header() {
  return Message()
      .text(1, "2.0")
      .number(2, 1700000000000000)
      .message(3, tests::output({.shape = {4}, .size = 16, .format = 29 | 7 << 8})
                      .message(4, original_op())
                      .shape(7, {2, 2})
                      .message(10, Message())
                      .number(11, 8)
                      .number(12, 1))
      .message(4, tests::input({.data_type = 2, .shape = {4}, .size = 8})
                      .shape(6, {4})
                      .number(9, 0)
                      .number(10, 3)
                      .number(11, 2))
      .message(5, tests::sized(4).number(4, 1))
      .text(6, "scope/op")
      .message(7, Message().text(1, "user_tag").text(2, "value"))
      .message(7, Message().text(1, "cuts").text(2, slices_json()))
      .message(8, tests::sized(2))
      .text(9, "dfx");
}

inline std::string payload(std::size_t n) { return std::string(n, '\x3c'); }

inline std::string standard_seed() { return tests::with_length(full_header()) + payload(30); }

// One output of four float32, two of them not finite.
inline std::string small_standard_seed() {
  const Message header = Message().message(3, tests::output({.shape = {4}, .size = 16}));
  return tests::with_length(header) +
         std::string("\0\0\x80\x3f\0\0\xc0\x7f\0\0\x80\xff\0\0\0\0", 16);
}

inline Message inline_message() {
  const auto tensor = [](unsigned data_field) {
    return Message().number(1, 1).number(2, 2).shape(3, {4}).text(data_field, payload(16));
  };
  return Message()
      .text(1, "1.0")
      .number(2, 1700000000000000)
      .message(3, tensor(5).message(4, original_op()))
      .message(4, tensor(4).number(5, 16))
      .message(5, Message().text(2, payload(4)))
      .text(6, "scope/op");
}

inline std::string inline_seed() { return inline_message().bytes(); }

inline std::string npy_seed() {
  return tests::npy_header(tests::npy_text("<f4", "(2, 2)", "True")) + payload(16);
}

inline std::string statistics_seed() {
  return "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,"
         "Nan Count,Negative Inf Count,Positive Inf Count\n"
         "Input,0,16,DT_FLOAT,FORMAT_ND,2x2,1.5,-2,0.25,4,0,0,0\n"
         "Output,0,8,DT_FLOAT16,FORMAT_NCHW,4,inf,nan,NA,4,1,0,1\n";
}

// A file of each kind.
inline std::vector<std::string> dump_seeds() {
  const std::string standard = standard_seed();
  return {standard,         small_standard_seed(), standard + small_standard_seed(),
          inline_seed(),    tests::nano_file(),    npy_seed(),
          statistics_seed()};
}

}  // namespace fastdump::fuzz
