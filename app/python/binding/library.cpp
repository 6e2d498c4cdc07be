// Tasks: a function of functions.cpp on a thread of its own, and what it left.
#include "app/python/binding/library.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "app/python/binding/functions.h"
#include "app/start.h"
#include "core/base/diagnostic.h"

using namespace lockstep;
using python::Json;

struct LockstepObject {
    python::Object object;
};

struct LockstepTask {
    std::string function, given;
    python::Object object;
    python::Answer answer;
    int status = 0;
    std::string text;  // the answer's JSON

    std::mutex mutex;  // of the rest
    std::condition_variable ended;
    bool done = false;
    std::string printed, handed_on;
    std::jthread worker;  // the last member: it ends before what it writes is gone
};

namespace {

// Text of others need not be UTF-8.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The exception's parts, as lockstep/_errors.py makes one of them.
Json parts_of(const Failure& failure) {
    const Diagnostic& d = failure.diagnostic;
    return {render(d),
            d.message,
            d.where.file,
            d.where.line,
            d.where.column,
            d.source_line,
            failure.status == ExitStatus::missing};
}

const python::FunctionRow& function_named(std::string_view name) {
    for (const python::FunctionRow& row : python::functions())
        if (row.name == name) return row;
    throw std::logic_error("the library has no function '" + std::string(name) + "'");
}

void run(LockstepTask& task, const std::stop_token& stop) {
    try {
        const Json given = Json::parse(task.given);
        const auto print = [&](std::string_view text) {
            const std::lock_guard lock(task.mutex);
            task.printed += text;
        };
        function_named(task.function).run({given, task.object, stop, print}, task.answer);
        task.text = text_of(task.answer.json);
    } catch (const Failure& failure) {
        task.status = 1;
        task.text = text_of(parts_of(failure));
    } catch (const std::bad_alloc&) {
        task.status = 3;
    } catch (const std::exception& error) {
        task.status = 2;
        task.text = text_of(error.what());
    }
    const std::lock_guard lock(task.mutex);
    task.done = true;
    task.ended.notify_all();
}

}  // namespace

LockstepTask* lockstep_begin(const char* function, const char* json, size_t bytes, LockstepObject* object) {
    try {
        auto task = std::make_unique<LockstepTask>();
        task->function = function;
        task->given.assign(json, bytes);
        if (object) task->object = object->object;
        task->worker = std::jthread([&task = *task](const std::stop_token& stop) { run(task, stop); });
        return task.release();
    } catch (const std::exception&) {
        return nullptr;
    }
}

int lockstep_wait(LockstepTask* task, int milliseconds) {
    std::unique_lock lock(task->mutex);
    const auto done = [&] { return task->done; };
    if (milliseconds < 0)
        task->ended.wait(lock, done);
    else
        task->ended.wait_for(lock, std::chrono::milliseconds(milliseconds), done);
    return task->done;
}

void lockstep_stop(LockstepTask* task) {
    task->worker.request_stop();
}

const char* lockstep_printed(LockstepTask* task, size_t* bytes) {
    const std::lock_guard lock(task->mutex);
    task->handed_on = std::exchange(task->printed, {});
    *bytes = task->handed_on.size();
    return task->handed_on.data();
}

const char* lockstep_answer(LockstepTask* task, size_t* bytes, int* status, LockstepObject** object) {
    *status = task->status;
    *bytes = task->text.size();
    const bool has_made = task->answer.made.kernel || task->answer.made.launched;
    *object = has_made ? new LockstepObject{std::exchange(task->answer.made, {})} : nullptr;
    return task->text.data();
}

void lockstep_free(LockstepTask* task, LockstepObject* object) {
    delete task;
    delete object;
}

int lockstep_start(int argc, char** argv) {
    return start(argc, argv);
}
