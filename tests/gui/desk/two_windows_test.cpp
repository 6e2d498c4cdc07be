// Two desks over one folder, as two windows are: neither loses what the other wrote.
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/gui/desk/document_store.h"
#include "app/gui/session.h"
#include "core/base/files.h"
#include "core/system/lock.h"
#include "tests/catch.h"

namespace gui_two_windows_test {
using namespace lockstep;
using namespace lockstep::gui;
namespace fs = std::filesystem;

const std::string base = "one\ntwo\nthree\nfour\nfive\n";

struct Windows {  // a state folder, and a session that a desk can be updated with
    TemporaryFolder folder;
    fs::path state = folder.path() / "kernels.json";
    Session session{{.start = false}};

    // Lets the desk keep what it has, and take over what the other one wrote.
    void keep(KernelDesk& desk, double& now) {
        for (int i = 0; i < 12; ++i) {
            now += 0.5;
            desk.update(session, *session.snapshot(), now);
            std::this_thread::sleep_for(std::chrono::milliseconds(40));
        }
    }
    std::string write(const std::string& name, const std::string& text) const {
        const fs::path file = folder.path() / name;
        std::ofstream(file, std::ios::binary) << text;
        return file.string();
    }
};

std::vector<std::string> texts_of(const KernelDesk& desk) {
    std::vector<std::string> texts;
    for (const KernelDocument& d : desk.documents()) texts.push_back(d.text);
    std::sort(texts.begin(), texts.end());
    return texts;
}

TEST_CASE("changes of different lines become one text, of the same lines none") {
    CHECK(merged_lines(base, "ONE\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nFIVE\n") ==
          "ONE\ntwo\nthree\nfour\nFIVE\n");
    CHECK(merged_lines(base, "one\ntwo\nthree\nfour\nfive\nsix\n", "zero\none\ntwo\nthree\nfour\nfive\n") ==
          "zero\none\ntwo\nthree\nfour\nfive\nsix\n");
    CHECK(merged_lines(base, "one\nfour\nfive\n", base) == "one\nfour\nfive\n");
    CHECK(merged_lines(base, base, "one\nfour\nfive\n") == "one\nfour\nfive\n");
    CHECK(merged_lines(base, "x\n", "x\n") == "x\n");
    CHECK_FALSE(merged_lines(base, "one\nTWO\nthree\nfour\nfive\n", "one\n2\nthree\nfour\nfive\n"));
    CHECK_FALSE(merged_lines(base, "one\nTWO\nthree\nfour\nfive\n", "one\ntwo\nTHREE\nfour\nfive\n"));  // they touch
    CHECK_FALSE(merged_lines("", "a", "b"));
}

TEST_CASE("a lock is one desk's at a time, and free when its holder ends") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "deep" / ".lock";
    {
        const system::FileLock first(file);
        CHECK(first.held());
        CHECK_FALSE(system::FileLock(file, 0.05).held());
    }
    CHECK(system::FileLock(file, 0.05).held());
    CHECK_FALSE(system::FileLock("/dev/null/no.lock", 0.05).held());
}

TEST_CASE("two windows with a document each leave both for the next start") {
    Windows two;
    double now_a = 0, now_b = 0;
    {
        KernelDesk a(two.state), b(two.state);
        REQUIRE(!a.open(two.write("a.ptx", "text of a")));
        REQUIRE(!b.open(two.write("b.ptx", "text of b")));
        a.set_text("written in window a");
        b.set_text("written in window b");
        two.keep(a, now_a);
        two.keep(b, now_b);
    }
    KernelDesk next(two.state);
    const auto texts = texts_of(next);
    CHECK(std::count(texts.begin(), texts.end(), "written in window a") == 1);
    CHECK(std::count(texts.begin(), texts.end(), "written in window b") == 1);
}

TEST_CASE("one document changed in two windows has both changes, or both texts are kept") {
    Windows two;
    const std::string file = two.write("sum.ptx", base);
    double now_a = 0, now_b = 0;
    {
        KernelDesk first(two.state);
        REQUIRE(!first.open(file));
        two.keep(first, now_a);
    }
    KernelDesk a(two.state), b(two.state);
    REQUIRE(a.document().text == base);
    REQUIRE(b.document().text == base);
    a.set_text("ONE\ntwo\nthree\nfour\nfive\n");
    two.keep(a, now_a);
    SECTION("what the other window did not touch follows it") {
        two.keep(b, now_b);
        CHECK(b.document().text == "ONE\ntwo\nthree\nfour\nfive\n");
        CHECK(b.documents().size() == a.documents().size());
    }
    SECTION("other lines: one text, in both windows") {
        b.set_text("one\ntwo\nthree\nfour\nFIVE\n");
        two.keep(b, now_b);
        CHECK(b.document().text == "ONE\ntwo\nthree\nfour\nFIVE\n");
        CHECK(b.note.find("both changes") != std::string::npos);
        two.keep(a, now_a);
        CHECK(a.document().text == "ONE\ntwo\nthree\nfour\nFIVE\n");
    }
    SECTION("the same line: two documents, and a sentence") {
        b.set_text("1\ntwo\nthree\nfour\nfive\n");
        two.keep(b, now_b);
        CHECK(b.document().text == "1\ntwo\nthree\nfour\nfive\n");
        CHECK(b.document().name == "sum (2).ptx");
        CHECK(b.document().path.empty());
        CHECK(b.note.find("yours are kept as 'sum (2).ptx'") != std::string::npos);
        KernelDesk next(two.state);
        const auto texts = texts_of(next);
        CHECK(std::count(texts.begin(), texts.end(), "1\ntwo\nthree\nfour\nfive\n") == 1);
        CHECK(std::count(texts.begin(), texts.end(), "ONE\ntwo\nthree\nfour\nfive\n") == 1);
    }
}

TEST_CASE("what earlier versions kept in one file is taken over, and what is no document is set aside and said") {
    Windows two;
    std::ofstream(two.state) << R"({"documents":[{"path":"","name":"front.cu","text":"first"},)"
                             << R"({"path":"","name":"back.cu","text":"second"}, 7]})";
    {
        KernelDesk desk(two.state);
        REQUIRE(desk.documents().size() == 2);
        CHECK(desk.document().text == "first");
        CHECK(desk.documents()[1].text == "second");
    }
    CHECK_FALSE(fs::exists(two.state));
    CHECK(fs::exists(two.state.string() + ".old"));
    const fs::path broken = two.folder.path() / "kernels" / "broken.json";
    std::ofstream(broken) << "{ half";
    KernelDesk desk(two.state);
    CHECK(desk.documents().size() == 2);
    CHECK(desk.note.find("'broken.json' cannot be read and was set aside") != std::string::npos);
    CHECK(fs::exists(broken.string() + ".unreadable"));
}

TEST_CASE("what is taken off the desk is gone, and a folder that cannot be written is said once") {
    Windows two;
    double now = 0;
    {
        KernelDesk desk(two.state);
        REQUIRE(!desk.open(two.write("a.ptx", "text of a")));
        REQUIRE(!desk.open(two.write("b.ptx", "text of b")));
        two.keep(desk, now);
        desk.forget(1);
        two.keep(desk, now);
    }
    KernelDesk next(two.state);
    const auto texts = texts_of(next);
    CHECK(std::count(texts.begin(), texts.end(), "text of a") == 0);
    CHECK(std::count(texts.begin(), texts.end(), "text of b") == 1);

    DocumentStore nowhere("/dev/null/kernels", {},
                          {[](const KernelDocument& d, int64_t) { return d.text; },
                           [](const std::string&, int64_t&) { return std::optional<KernelDocument>(); }});
    KernelDocument document;
    document.text = "x";
    nowhere.put("x", document, 1);
    std::string said;
    for (int i = 0; i < 200 && said.empty(); ++i) {
        said = nowhere.problem();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(said.starts_with("your kernels cannot be kept: "));
    CHECK(nowhere.problem().empty());
}

TEST_CASE("saving over what another program wrote is asked for twice") {
    Windows two;
    const std::string file = two.write("sum.ptx", "as it was");
    KernelDesk desk(two.state);
    REQUIRE(!desk.open(file));
    desk.set_text("as I want it");
    two.write("sum.ptx", "as another program wants it");
    const auto why = desk.save(file);
    REQUIRE(why);
    CHECK(*why == "'sum.ptx' was changed by another program since it was opened: save again to write over that");
    CHECK(read_file(file).value() == "as another program wants it");
    CHECK_FALSE(desk.save(file));
    CHECK(read_file(file).value() == "as I want it");
}

}  // namespace gui_two_windows_test
