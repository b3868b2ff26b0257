#pragma once

// Reading a file that may be anything: each claim it makes is checked before it costs memory or time.

#include "record/handle.hpp"
#include "record/schema.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace shardline::hdf5 {

/// A contradiction to docs/file-format.md, as a Failure told of `object`.
[[noreturn]] void reject(const std::string& object, std::string_view why);

/// Most memory the content of a file can be worth: 64 MiB, and some times its bytes on disk for compressed columns.
uint64_t believable_bytes(const std::string& path);

/// A regular file opened as HDF5, for reading only: complete, being written, or left by a killed run.
class StoredFile {
public:
    /// Throws InputError where it is no readable regular file or no HDF5 file.
    explicit StoredFile(const std::string& path);

    hid_t get() const { return file_.get(); }
    uint64_t size() const { return size_; }
    /// As the function of that name tells.
    uint64_t believable_bytes() const { return believable_; }

    /// Accounts for memory before it is taken. Throws Failure about `object` beyond believable_bytes in all.
    void take(uint64_t values, uint64_t bytes_each, const std::string& object);

private:
    Handle file_;
    uint64_t size_ = 0, believable_ = 0, left_ = 0;
};

/// A group of the file, found by a hard link from the root.
class StoredGroup {
public:
    StoredGroup(StoredFile& file, const char* name);

    StoredFile& file() const { return *file_; }
    hid_t get() const { return group_.get(); }
    const std::string& path() const { return path_; }
    /// True where something of that name stands in the group.
    bool holds(const char* name) const;

private:
    StoredFile* file_;
    std::string path_;
    Handle group_;
};

/// Dimensions a dataset must have.
enum class Shape { scalar, rows, rows_by_rank };

inline constexpr hsize_t any_width = 0;

/// A dataset that is what the schema says it is.
class StoredColumn {
public:
    /// `width`: readings that a row has, one of each rank or of each that is kept. Throws Failure where type, shape or storage differ.
    StoredColumn(const StoredGroup& group, const schema::Column& column, Shape shape, hsize_t width = 1);

    const std::string& path() const { return path_; }
    hsize_t rows() const { return rows_; }
    hsize_t width() const { return width_; }
    size_t cell_bytes() const { return cell_bytes_; }

    /// Reads the first rows into cells, room for rows × width of them.
    void read(hsize_t rows, void* cells) const;

private:
    void require_type(schema::Type wanted);
    void require_shape(Shape shape, hsize_t width);
    void require_own_storage();
    void require_bytes_of(hsize_t rows) const;

    StoredFile* file_;
    std::string path_;
    Handle dataset_, memory_type_;
    hsize_t rows_ = 1, width_ = 1;
    Shape shape_;
    size_t cell_bytes_ = 0;
    bool filtered_ = false;
};

/// A text attribute. Throws Failure where it is missing or not a scalar text of fixed length.
std::string text_attribute(StoredFile& file, hid_t object, const char* name);
/// An int32 attribute, likewise.
int32_t number_attribute(hid_t object, const char* name);
bool has_attribute(hid_t object, const char* name);
/// Calls visit(name) for each attribute, in order of creation where the file knows it. Throws Failure beyond `most`.
void for_each_attribute(const StoredGroup& group, size_t most, const std::function<void(const char*)>& visit);

} // namespace shardline::hdf5
