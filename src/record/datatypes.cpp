#include "record/datatypes.hpp"

#include <span>

namespace shardline::hdf5 {
namespace {

using schema::Type;

Handle copy_of(hid_t type) { return own(H5Tcopy(type), H5Tclose, "datatype"); }

Handle text_type(size_t bytes)
{
    auto type = copy_of(H5T_C_S1);
    check(H5Tset_size(type.get(), bytes), "text type");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "text type");
    check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "text type");
    return type;
}

std::span<const char* const> names_of(Type type)
{
    switch (type) {
    case Type::flag: return schema::flag_names;
    case Type::mode: return schema::mode_names;
    case Type::severity: return schema::severity_names;
    case Type::status: return schema::status_names;
    default: return {};
    }
}

Handle enumeration_type(Type type)
{
    // h5py takes an enumeration of a signed byte with FALSE and TRUE for bool.
    const hid_t base = type == Type::flag ? H5T_STD_I8LE : H5T_STD_U8LE;
    auto enumeration = own(H5Tenum_create(base), H5Tclose, "enumeration");
    unsigned char value = 0;
    for (const char* name : names_of(type)) {
        check(H5Tenum_insert(enumeration.get(), name, &value), name);
        ++value;
    }
    return enumeration;
}

} // namespace

size_t enumeration_size(Type type) { return names_of(type).size(); }

size_t cell_bytes(Type type, size_t text_bytes)
{
    switch (type) {
    case Type::int32: return 4;
    case Type::int64:
    case Type::float64: return 8;
    case Type::text: return text_bytes;
    default: return 1;
    }
}

Handle file_type(Type type, size_t text_bytes)
{
    switch (type) {
    case Type::int32: return copy_of(H5T_STD_I32LE);
    case Type::int64: return copy_of(H5T_STD_I64LE);
    case Type::float64: return copy_of(H5T_IEEE_F64LE);
    case Type::text: return text_type(text_bytes);
    default: return enumeration_type(type);
    }
}

Handle memory_type(Type type, size_t text_bytes)
{
    switch (type) {
    case Type::int32: return copy_of(H5T_NATIVE_INT32);
    case Type::int64: return copy_of(H5T_NATIVE_INT64);
    case Type::float64: return copy_of(H5T_NATIVE_DOUBLE);
    default: return file_type(type, text_bytes);
    }
}

} // namespace shardline::hdf5
