// The host device's threads. They live as long as the pool, wait for work 300 us awake, giving way to others, and then
// asleep. Whoever is free takes the next part, the caller too: on a busy machine a thread that does not get a processor
// holds nobody up. Results do not depend on the number of threads as long as the parts do not.
#pragma once
#include <cstdint>
#include <memory>

namespace lockstep::device {

class ThreadPool {
  public:
    explicit ThreadPool(int threads);  // the caller is one of them; fewer where the system gives no more
    ~ThreadPool();
    int threads() const;

    // work(0) .. work(parts - 1), each once, in any order, on any thread. Returns when all have ended and throws what one of
    // them threw. One caller at a time; `work` must not call run().
    template <class Work>
    void run(int parts, const Work& work) {
        run_parts(parts, &work, [](const void* it, int part) { (*static_cast<const Work*>(it))(part); });
    }

    // For work on a kernel's result while its parts lie in the cache of the thread that made them. A twin that knows of it
    // asks place() where a part goes and says made() once it is there, on one thread; so for all parts, or for none.
    struct Listener {
        virtual void* place(int64_t first, int64_t count) = 0;  // elements; null: where the result lies
        virtual void made(int64_t first, int64_t count) = 0;

      protected:
        ~Listener() = default;
    };
    void listen(Listener* listener) { listener_ = listener; }
    template <class T>
    T* place(T* result, int64_t first, int64_t count) const {
        void* const elsewhere = listener_ != nullptr ? listener_->place(first, count) : nullptr;
        return elsewhere != nullptr ? static_cast<T*>(elsewhere) : result + first;
    }
    void made(int64_t first, int64_t count) const {
        if (listener_ != nullptr) listener_->made(first, count);
    }

  private:
    Listener* listener_ = nullptr;
    using Part = void (*)(const void* work, int part);
    void run_parts(int parts, const void* work, Part part_of);
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace lockstep::device
