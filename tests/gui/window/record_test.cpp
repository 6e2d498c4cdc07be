// Recordings: what is refused, which moments a kernel's stretch has, and what lies on the disk afterwards.
#include "app/gui/window/record.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/system/system.h"
#include "tests/gui/sm_desk.h"

namespace gui_record_test {

using namespace lockstep::gui;
using namespace lockstep::gui::test;
using lockstep::ExitStatus;
using lockstep::Failure;
using lockstep::Focus;

namespace {

struct Folder {
    std::filesystem::path path = lockstep::system::make_temporary_folder();
    ~Folder() { std::filesystem::remove_all(path); }
    std::string operator/(const char* name) const { return (path / name).string(); }
    size_t files() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {})); }
};

template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return {};
}

// What `call` returns; nothing where this machine has no OpenGL to draw with.
template <class Call>
std::optional<bool> with_gl(const Call& call) {
    try {
        return call();
    } catch (const Failure& failure) {
        if (failure.status != ExitStatus::missing) throw;
        WARN("not run: " << failure.diagnostic.message);
        return std::nullopt;
    }
}

// A machine where ffmpeg is this script, which finds its output behind "file:" as its last word.
struct Ffmpeg {
    std::string before = std::getenv("PATH");
    Ffmpeg(const Folder& folder, const std::string& script) {
        std::ofstream(folder / "ffmpeg") << "#!/bin/sh\nfor last; do :; done\nout=${last#file:}\n" << script << "\n";
        std::filesystem::permissions(folder / "ffmpeg", std::filesystem::perms::owner_all);
        ::setenv("PATH", (folder.path.string() + ":/bin:/usr/bin").c_str(), 1);
    }
    explicit Ffmpeg(std::nullptr_t) { ::setenv("PATH", "/no/such/folder", 1); }
    ~Ffmpeg() { ::setenv("PATH", before.c_str(), 1); }
};

}  // namespace

TEST_CASE("a recording is refused in one sentence that says what would be right") {
    const Folder folder;
    const auto refused = [](const std::string& file, double rate = 20) {
        return refusal([&] { check_recording(file, {.frames_a_second = rate}); });
    };
    CHECK(refused(folder / "film.avi").find("F.gif or F.mp4") != std::string::npos);
    CHECK(refused(folder / "film").find("F.gif or F.mp4") != std::string::npos);
    CHECK(refused("/no/such/folder/film.gif").find("no folder '/no/such/folder'") != std::string::npos);
    std::filesystem::create_directory(folder / "x.gif");
    CHECK(refused(folder / "x.gif").find("is a folder") != std::string::npos);
    CHECK(refused(folder / "film.gif", 60).find("1 to 50") != std::string::npos);
    CHECK(refused(folder / "film.gif", 0).find("1 to 50") != std::string::npos);
    CHECK(refused(folder / "film.gif", std::nan("")).find("1 to 50") != std::string::npos);
    CHECK(refused(folder / "film.gif").empty());
    CHECK(refused(folder / "FILM.GIF").empty());
    const Ffmpeg none(nullptr);
    const std::string missing = refused(folder / "film.mp4");
    CHECK(missing.find("package ffmpeg") != std::string::npos);
    CHECK(missing.find("F.gif needs nothing") != std::string::npos);
}

TEST_CASE("the moments of a kernel begin and end with its stretch and pass as fast as was said") {
    SmDesk desk(Workspace::sm);
    const int64_t last = desk.trace().cycles - 1;
    REQUIRE(last > 200);
    const auto times = [&](const Stretch& stretch, double rate) {
        const Moments moments = moments_of_kernel(desk.shell, stretch, rate);
        std::vector<int64_t> seen;
        for (int k = 0; k < moments.frames; ++k) {
            moments.show(k, desk.session, desk.shell.focus);
            seen.push_back(desk.shell.focus.time);
        }
        return seen;
    };
    CHECK(times({.from = 100, .to = 103, .speed = 2}, 4) == std::vector<int64_t>{100, 100, 101, 101, 102, 102, 103});
    CHECK(times({.from = 10, .to = 40, .speed = 200}, 20) == std::vector<int64_t>{10, 20, 30, 40});
    CHECK(desk.session.sm.cycles_begin == 10);
    CHECK(desk.session.sm.cycles_end == 41);
    const std::vector<int64_t> whole = times({}, 20);  // ten seconds and the last moment
    CHECK(whole.size() == 201);
    CHECK(whole.front() == 0);
    CHECK(whole.back() == last);
    CHECK(times({.from = 5, .to = 105}, 20).size() == 201);
}

TEST_CASE("a stretch that is none of the kernel's, or has too many frames, is refused") {
    SmDesk desk(Workspace::sm);
    const auto refused = [&](const Stretch& stretch) {
        return refusal([&] { moments_of_kernel(desk.shell, stretch, 20); });
    };
    const std::string last = std::to_string(desk.trace().cycles - 1);
    CHECK(refused({.from = 0, .to = 100'000'000}).find("cycles are 0 to " + last) != std::string::npos);
    CHECK(refused({.from = 50, .to = 50}).find("cycles are 0 to " + last) != std::string::npos);
    CHECK(refused({.from = 100, .to = 50}).find("no stretch") != std::string::npos);
    const std::string slow = refused({.from = 0, .to = 100, .speed = 0.001});
    CHECK(slow.find("2,000,001 frames") != std::string::npos);
    CHECK(slow.find("--speed 1 or more") != std::string::npos);
    desk.session.workspace = Workspace::cluster;
    CHECK(refused({}).find("Cluster workspace") != std::string::npos);
    desk.session.workspace = Workspace::training;
    CHECK(refused({}).find("Training workspace moves by the kernel") != std::string::npos);
}

TEST_CASE("where no kernel has run there is nothing to record") {
    Desk desk;
    desk.session.workspace = Workspace::sm;
    CHECK(refusal([&] { moments_of_kernel(desk.shell, {}, 20); }).find("no kernel has run") != std::string::npos);
}

TEST_CASE("a recording shows every moment in order and leaves one GIF; one that is ended leaves no file") {
    const Folder folder;
    SmDesk desk(Workspace::sm);
    std::vector<int> shown;
    const Moments moments{8, [&](int k, Session& session, Focus& focus) {
                              shown.push_back(k);
                              session.grain = Grain::cycle;
                              focus.time = 10 * k;
                          }};
    std::vector<double> shares;
    const auto done = with_gl([&] {
        return record(desk.shell, {.width = 400, .height = 300}, moments, folder / "film.gif", [&](double share) {
            shares.push_back(share);
            return true;
        });
    });
    if (!done) return;
    CHECK(*done);
    CHECK(shown == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(std::is_sorted(shares.begin(), shares.end()));
    CHECK(shares.back() == 1);
    std::ifstream in(folder / "film.gif", std::ios::binary);
    std::string head(10, ' ');
    in.read(head.data(), 10);
    CHECK(head == std::string("GIF89a\x90\x01\x2C\x01", 10));
    CHECK(folder.files() == 1);
    int asked = 0;
    CHECK_FALSE(record(desk.shell, {.width = 400, .height = 300}, moments, folder / "ended.gif",
                       [&](double) { return ++asked < 8; }));
    CHECK(folder.files() == 1);
}

TEST_CASE("ffmpeg is fed every frame's pixels, and a film that it does not finish is no file") {
    const Folder folder, films;
    SmDesk desk(Workspace::sm);
    const Moments moments{3, [](int k, Session&, Focus& focus) { focus.time = 10 * k; }};
    const RecordOptions options{.width = 401, .height = 301};
    {
        const Ffmpeg whole(folder, "cat > \"$out\"");
        const auto done = with_gl([&] { return record(desk.shell, options, moments, films / "film.mp4"); });
        if (!done) return;
        CHECK(std::filesystem::file_size(films / "film.mp4") == 3 * 4 * 401 * 301);
        CHECK(films.files() == 1);
        int asked = 0;
        CHECK_FALSE(record(desk.shell, options, moments, films / "ended.mp4", [&](double) { return ++asked < 7; }));
        CHECK(films.files() == 1);
    }
    const Ffmpeg broken(folder, "echo half > \"$out\"; echo no such encoder >&2; exit 1");
    const std::string why = refusal([&] { record(desk.shell, options, moments, films / "broken.mp4"); });
    CHECK(why.find("ffmpeg did not write") != std::string::npos);
    CHECK(why.find("no such encoder") != std::string::npos);
    CHECK(films.files() == 1);
}

}  // namespace gui_record_test
