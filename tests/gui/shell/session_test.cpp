// The worker behind the interface: real training steps and lessons, no window.
#include "app/gui/session.h"

#include <atomic>
#include <cmath>

#include "app/gui/app.h"
#include "app/gui/view.h"
#include "app/gui/work/worker.h"
#include "core/base/diagnostic.h"
#include "tests/catch.h"

namespace gui_session_test {

using namespace lockstep;
using namespace lockstep::gui;

TEST_CASE("the first scene trains, times the step on show, and opens a kernel") {
    Session session({.training_steps = 2});
    REQUIRE(session.wait_until_idle(60));
    auto snapshot = session.snapshot();
    REQUIRE(!snapshot->problem);
    REQUIRE(snapshot->training.step);
    CHECK(snapshot->training.step->step == 1);
    CHECK(std::isfinite(snapshot->training.step->loss));
    REQUIRE(!snapshot->training.curves.empty());
    CHECK(snapshot->training.curves.front().loss.size() == 2);
    CHECK(snapshot->busy.empty());
    REQUIRE(snapshot->kernel.run);
    CHECK(snapshot->kernel.run->result.cycles > 0);
    for (const device::LaunchEvent& launch : snapshot->training.step->launches) {
        INFO(launch.label);
        CHECK(launch.run != nullptr);
        CHECK(launch.cycles > 0);
    }
    const double loss_of_1 = snapshot->training.step->loss;

    // Back to step 0, and on again: the same numbers, bit for bit.
    session.post(ask::ShowStep{0});
    REQUIRE(session.wait_until_idle(60));
    CHECK(session.snapshot()->training.step->step == 0);
    session.post(ask::ShowStep{1});
    REQUIRE(session.wait_until_idle(60));
    CHECK(session.snapshot()->training.step->loss == loss_of_1);

    // One warp's history and its registers.
    session.post(ask::OpenKernel{1});
    session.post(ask::FocusWarp{0});
    session.post(ask::LanesAt{3});
    REQUIRE(session.wait_until_idle(60));
    snapshot = session.snapshot();
    CHECK(snapshot->kernel.run == snapshot->training.step->launches[1].run);
    REQUIRE(snapshot->kernel.history);
    CHECK(snapshot->kernel.history->steps.size() > 3);
    REQUIRE(snapshot->kernel.lanes);
    CHECK(snapshot->kernel.lanes_step == 3);
    CHECK(!snapshot->kernel.lanes_timed);  // no cycle was asked for
    CHECK(!snapshot->kernel.lanes->empty());

    // Out of range and nonsense leave everything as it is.
    for (const int64_t index : {int64_t{-1}, int64_t{1} << 40}) {
        session.post(ask::OpenKernel{index});
        session.post(ask::FocusWarp{index});
        session.post(ask::LanesAt{index});
        session.post(ask::LockPrediction{static_cast<size_t>(index)});
    }
    session.post(ask::SetGpu{"gtx9000"});
    REQUIRE(session.wait_until_idle(60));
    REQUIRE(session.snapshot()->problem);
    CHECK(session.snapshot()->problem->message.find("gtx9000") != std::string::npos);
    session.post(ask::Dismiss{});
    REQUIRE(session.wait_until_idle(10));
    CHECK(!session.snapshot()->problem);
    CHECK(session.snapshot()->training.step);
}

TEST_CASE("a lesson opens, runs its scene, and judges a locked prediction by the engine") {
    Session session({.lesson = "A06", .lesson_step = 2});
    REQUIRE(session.wait_until_idle(60));
    Focus focus;
    session.adopt_results(focus);
    INFO((session.snapshot()->problem ? session.snapshot()->problem->message : std::string()));
    REQUIRE(!session.snapshot()->problem);
    REQUIRE(session.lesson.lesson);
    CHECK(session.lesson.step == 2);
    REQUIRE(session.snapshot()->kernel.run);
    REQUIRE(!session.lesson.predictions[2].empty());
    CHECK_FALSE(session.lesson.predictions[2][0].locked);
    session.lesson.predictions[2][0].chosen = 0;
    session.post(ask::LockPrediction{0});
    REQUIRE(session.wait_until_idle(60));
    session.adopt_results(focus);
    const LessonState::Prediction& prediction = session.lesson.predictions[2][0];
    CHECK(prediction.locked);
    REQUIRE(prediction.truth);
    CHECK(*prediction.truth == Approx(32));  // all lanes store together
    CHECK(prediction.right);
}

TEST_CASE("the teaching GPU comes in several sizes, and a scene runs on the one that is chosen") {
    int sizes = 0;
    for (const GpuChoice& one : gpu_choices()) {
        INFO(one.name << ": " << one.title);
        CHECK(model::gpu_named(one.name).ok());
        sizes += one.title.starts_with("Teaching GPU");
    }
    CHECK(sizes == 4);
    Session session({.lesson = "A08", .lesson_step = 0});
    REQUIRE(session.wait_until_idle(60));
    session.post(ask::SetGpu{"teaching:4"});
    REQUIRE(session.wait_until_idle(60));
    REQUIRE(session.snapshot()->kernel.run);
    CHECK(session.snapshot()->kernel.run->gpu.sms == 4);
    CHECK(session.snapshot()->kernel.run->gpu.fp16_tflops.value == Approx(4 * 2 * 32 * 4e-3));  // 2 sub-cores of 32 lanes
}

TEST_CASE("a lesson that is not there is a problem on screen, not the end") {
    Session session({.lesson = "Z99"});
    REQUIRE(session.wait_until_idle(30));
    REQUIRE(session.snapshot()->problem);
    CHECK(session.snapshot()->problem->message.find("Z99") != std::string::npos);
}

TEST_CASE("a session that ends stops whatever is under way: a job, a training step, a replay") {
    auto worker = std::make_unique<Session::Worker>(SessionOptions{.own_kernel = true});
    std::vector<std::stop_token> tokens;
    {
        const std::lock_guard lock(worker->mutex);
        for (const std::stop_source* one : {&worker->job, &worker->stepping, &worker->looking})
            tokens.push_back(one->get_token());
    }
    worker.reset();
    for (const std::stop_token& token : tokens) CHECK(token.stop_requested());
    for (int i = 0; i < 3; ++i) {
        Session session({.training_steps = 50});
        session.wait_until_idle(0.05 * i);
    }
}

TEST_CASE("a run that is cancelled before it has begun ends all the same") {
    Session session({.own_kernel = true});
    REQUIRE(session.wait_until_idle(30));
    auto job = std::make_shared<KernelJob>();
    job->version = 1;
    job->name = "endless.ptx";
    job->text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry endless()\n{\nagain:\n"
        "    bra.uni again;\n    ret;\n}\n";
    job->run = true;
    std::atomic<bool> posted = false;
    session.on_publish([&] {  // on the worker's thread: both wishes wait when it takes the first
        if (posted.exchange(true)) return;
        session.post(ask::RunOwn{job});
        session.post(ask::Cancel{});
    });
    session.post(ask::Dismiss{});
    REQUIRE(session.wait_until_idle(60));
    session.on_publish({});
    REQUIRE(session.snapshot()->own.result);
    CHECK(session.snapshot()->own.result->cancelled);
}

TEST_CASE("a warp whose recording was interrupted is recorded once the interruption is over") {
    Session session({.lesson = "A05", .lesson_step = 0});
    REQUIRE(session.wait_until_idle(60));
    std::atomic<bool> posted = false;
    session.on_publish([&] {
        if (posted.exchange(true)) return;
        session.post(ask::FocusWarp{3});
        session.post(ask::Cancel{});
    });
    session.post(ask::Dismiss{});
    REQUIRE(session.wait_until_idle(60));
    session.on_publish({});
    REQUIRE(session.snapshot()->kernel.history);
    CHECK_FALSE(session.snapshot()->kernel.history->stopped);
    CHECK(session.snapshot()->kernel.history->steps.size() > 3);
}

TEST_CASE("bad app options are one sentence that says what is right") {
    const auto refused = [](AppOptions options) {
        try {
            run_app(options);
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
        return std::string();
    };
    CHECK(refused({.screenshot = "x.png", .theme = "dim"}).find("high-contrast") != std::string::npos);
    CHECK(refused({.view = "warp_view", .screenshot = "x.png"}).find("warps") != std::string::npos);
    CHECK(refused({.screenshot = "x.png", .width = 10}).find("320x240") != std::string::npos);
    CHECK(refused({.screenshot = "x.png", .scale = 9}).find("2.5") != std::string::npos);
    CHECK(refused({.screenshot = "x.png", .scale = std::nan("")}).find("2.5") != std::string::npos);
    CHECK(refused({.screenshot = "x.jpg"}).find("F.png or F.svg") != std::string::npos);
    CHECK(refused({.film = {.file = "x.avi"}}).find("F.gif or F.mp4") != std::string::npos);
    CHECK(refused({.film = {.speed = 5}}).find("--record F.gif") != std::string::npos);
    CHECK(refused({.lesson = "Z99", .screenshot = "x.png"}).find("Z99") != std::string::npos);
    CHECK(refused({.screenshot = "pictures/"}).find("--lesson") != std::string::npos);
    CHECK(refused({.lesson = "A06", .screenshot = "pictures"}).find("a slash at its end") != std::string::npos);
    CHECK(refused({.lesson = "A06", .step = 2, .screenshot = "pictures/"}).find("--step") != std::string::npos);
}

}  // namespace gui_session_test
