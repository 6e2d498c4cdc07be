#include "core/nn/data/files/inflate.h"

#include <zlib.h>

#include <algorithm>

#include "core/base/sizes.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
constexpr size_t piece = size_t{1} << 16;
constexpr size_t largest = size_t{0xffffffff};  // zlib counts what is left in 32 bits

struct Stream {
    z_stream z = {};
    explicit Stream(std::string_view bytes, int window_bits) {
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib writes nothing there
        z.avail_in = static_cast<uInt>(bytes.size());
        if (inflateInit2(&z, window_bits) != Z_OK) throw Failure("zlib cannot start: there is no memory left");
    }
    ~Stream() { inflateEnd(&z); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // Makes up to a piece more; Z_OK, Z_STREAM_END, or what is wrong.
    int more(std::string& out, size_t limit) {
        const size_t before = out.size();
        out.resize(std::min(before + piece, limit + 1));  // one more than allowed shows that it goes on
        z.next_out = reinterpret_cast<Bytef*>(out.data() + before);
        z.avail_out = static_cast<uInt>(out.size() - before);
        const int status = inflate(&z, Z_NO_FLUSH);
        out.resize(out.size() - z.avail_out);
        return status;
    }
    std::string reason(int status) const {
        if (status == Z_BUF_ERROR) return "it ends too early";
        return z.msg ? z.msg : "it is damaged";
    }
};
}  // namespace

Result<std::string> gunzip(std::string_view bytes, const std::string& name, size_t limit) {
    if (bytes.size() > largest) return refusal(name, largest, "the packed file is larger than 4 GiB");
    Stream stream(bytes, 15 + 16);  // 16: with gzip's header and checksum
    std::string out;
    for (;;) {
        const int status = stream.more(out, limit);
        const uint64_t at = bytes.size() - stream.z.avail_in;
        if (out.size() > limit)
            return refusal(name, at, fmt::format("it grows beyond the {} that are read", size_text(limit)));
        if (status == Z_STREAM_END) {
            if (stream.z.avail_in == 0) return out;
            if (bytes[at] != '\x1f') return refusal(name, at, "something follows the end of the gzip file");
            inflateReset(&stream.z);
        } else if (status != Z_OK) {
            return refusal(name, at, "not a whole gzip file: " + stream.reason(status));
        }
    }
}

Result<std::string> inflate_raw(std::string_view bytes, const std::string& name, uint64_t offset, uint64_t size) {
    if (bytes.size() > largest) return refusal(name, offset, "the packed part is larger than 4 GiB");
    Stream stream(bytes, -15);
    std::string out;
    for (;;) {
        const int status = stream.more(out, size);
        const uint64_t at = offset + bytes.size() - stream.z.avail_in;
        if (out.size() > size) return refusal(name, at, fmt::format("the packed part holds more than its {} bytes", size));
        if (status == Z_STREAM_END) {
            if (out.size() != size)
                return refusal(name, at, fmt::format("the packed part holds {} bytes, not {}", out.size(), size));
            if (stream.z.avail_in != 0) return refusal(name, at, "something follows the end of the packed part");
            return out;
        }
        if (status != Z_OK) return refusal(name, at, "the packed part is damaged: " + stream.reason(status));
    }
}

uint32_t crc32_of(std::string_view bytes) {
    return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace lockstep::nn
