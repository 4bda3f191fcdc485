"""The messages of a dump's header as classes of google protobuf, to check headers against."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# Message -> fields as (number, name, type); a trailing * is "repeated". Enums travel as int32.
SCHEMA = {
    "Shape": [(1, "dim", "uint64*")],
    "DimRange": [(1, "dim_start", "uint64"), (2, "dim_end", "uint64")],
    "OriginalOp": [
        (1, "name", "string"),
        (2, "output_index", "uint32"),
        (3, "data_type", "int32"),
        (4, "format", "int32"),
    ],
    "OpOutput": [
        (1, "data_type", "int32"),
        (2, "format", "int32"),
        (3, "shape", "Shape"),
        (4, "original_op", "OriginalOp"),
        (5, "data", "bytes"),
        (6, "size", "uint64"),
        (7, "original_shape", "Shape"),
        (8, "sub_format", "int32"),
        (9, "address", "uint64"),
        (10, "dim_range", "DimRange*"),
        (11, "offset", "uint64"),
        (12, "arg_index", "uint32"),
    ],
    "OpInput": [
        (1, "data_type", "int32"),
        (2, "format", "int32"),
        (3, "shape", "Shape"),
        (4, "data", "bytes"),
        (5, "size", "uint64"),
        (6, "original_shape", "Shape"),
        (7, "sub_format", "int32"),
        (8, "address", "uint64"),
        (9, "offset", "uint64"),
        (10, "arg_index", "uint32"),
        (11, "input_type", "uint32"),
    ],
    "OpBuffer": [(1, "buffer_type", "int32"), (2, "data", "bytes"), (3, "size", "uint64")],
    "OpAttr": [(1, "name", "string"), (2, "value", "string")],
    "Workspace": [
        (1, "type", "int32"),
        (2, "data", "bytes"),
        (3, "size", "uint64"),
        (4, "arg_index", "uint32"),
    ],
    "DumpData": [
        (1, "version", "string"),
        (2, "dump_time", "uint64"),
        (3, "output", "OpOutput*"),
        (4, "input", "OpInput*"),
        (5, "buffer", "OpBuffer*"),
        (6, "op_name", "string"),
        (7, "attr", "OpAttr*"),
        (8, "space", "Workspace*"),
        (9, "dfx_message", "string"),
    ],
}


def message_class(name: str, *, strings_as: str = "string") -> Any:
    """Return the class of a message; `strings_as` "bytes" takes strings that are not UTF-8."""
    field_type = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="dump_data.proto", package="toolkit.dumpdata", syntax="proto3"
    )
    for message_name, fields in SCHEMA.items():
        message = file.message_type.add(name=message_name)
        for number, field_name, kind in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = (
                field_type.LABEL_REPEATED if kind[-1] == "*" else field_type.LABEL_OPTIONAL
            )
            kind = kind.rstrip("*")
            if kind in SCHEMA:
                field.type = field_type.TYPE_MESSAGE
                field.type_name = f".toolkit.dumpdata.{kind}"
            else:
                kind = strings_as if kind == "string" else kind
                field.type = getattr(field_type, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"toolkit.dumpdata.{name}"))
