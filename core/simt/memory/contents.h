// The bytes of an allocation. Copies share them until one of them is written; the host's own memory (pinned or managed) is
// never shared, so a copy of it has bytes of its own from the first moment on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace lockstep::simt {

class Contents {
  public:
    Contents() = default;
    explicit Contents(uint64_t bytes) : own_(std::make_shared<std::vector<std::byte>>(bytes)) {}
    // `host` stays whose it is, and has to outlive this.
    Contents(std::byte* host, uint64_t bytes) : host_(host), host_bytes_(bytes) {}
    Contents(const Contents& other) : own_(other.host_ ? copy_of(other) : other.own_) {}
    Contents(Contents&&) noexcept = default;
    Contents& operator=(const Contents& other) { return *this = Contents(other); }
    Contents& operator=(Contents&&) noexcept = default;
    ~Contents() = default;

    explicit operator bool() const { return host_ != nullptr || own_ != nullptr; }
    std::byte* data() const { return host_ ? host_ : own_->data(); }
    uint64_t size() const { return host_ ? host_bytes_ : own_->size(); }
    bool of_host() const { return host_ != nullptr; }
    bool shared() const { return own_.use_count() > 1; }
    void unshare() { own_ = copy_of(*this); }
    void reset() { *this = Contents(); }

  private:
    static std::shared_ptr<std::vector<std::byte>> copy_of(const Contents& other) {
        return std::make_shared<std::vector<std::byte>>(other.data(), other.data() + other.size());
    }

    std::shared_ptr<std::vector<std::byte>> own_;
    std::byte* host_ = nullptr;
    uint64_t host_bytes_ = 0;
};

}  // namespace lockstep::simt
