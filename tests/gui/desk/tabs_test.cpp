// The files of one program as tabs: a header is edited beside the kernel that includes it, and Run runs the whole.
#include "app/gui/views/kernel/kernel_values.h"
#include "core/base/files.h"
#include "tests/gui/own_desk.h"

namespace gui_tabs_test {

using namespace lockstep;
using namespace lockstep::gui;
using Desk = test::OwnDesk;

namespace {

float first_value(const Desk& desk) {
    const auto result = desk.snapshot()->own.result;
    REQUIRE(result);
    REQUIRE(result->run);
    const Buffer buffer = buffer_of(result->bound.arguments.at(0), *result->run->before, *result->after);
    return static_cast<float>(number_at(buffer.type, buffer.after.data()));
}

}  // namespace

TEST_CASE("files of one folder are tabs in one order, and each keeps what was typed and can be undone") {
    const test::Scratch scratch, elsewhere;
    Desk desk;
    desk.open(scratch.write("b.ptx", "// b"));
    CHECK(desk.session.desk.tabs().size() == 1);
    desk.open(elsewhere.write("z.ptx", "// z"));
    desk.open(scratch.write("a.ptx", "// a"));
    const auto names = [&] {
        std::string all;
        for (const size_t i : desk.session.desk.tabs()) all += desk.session.desk.documents()[i].name + " ";
        return all;
    };
    CHECK(names() == "a.ptx b.ptx ");
    desk.session.desk.next_tab(1);
    desk.settle();
    CHECK(desk.session.desk.document().name == "b.ptx");
    CHECK(names() == "a.ptx b.ptx ");  // they do not jump
    CHECK(desk.shows("a.ptx"));
    REQUIRE(desk.click_on("a.ptx"));
    CHECK(desk.session.desk.document().name == "a.ptx");
    desk.key(KeyCode::page_down, false, true);
    CHECK(desk.session.desk.document().name == "b.ptx");
    desk.session.desk.close_tab(0);
    desk.frames(2);
    CHECK(names() == "a.ptx ");
}

TEST_CASE("a header is edited beside its kernel, and Run saves it and runs the kernel with it") {
    if (!test::has_compiler()) return;
    const test::Scratch scratch;
    const std::string header = scratch.write("value.h", "#define VALUE 2.0f\n");
    Desk desk;
    desk.open(
        scratch.write("fill.cu", "#include \"value.h\"\n__global__ void fill(float *x) { x[threadIdx.x] = VALUE; }\n"));
    CHECK(first_value(desk) == 2);
    desk.open(header);
    CHECK(desk.session.desk.document().is_header());
    CHECK(desk.snapshot()->own.run);  // the kernel's run stays on show
    CHECK(desk.session.desk.documents()[desk.session.desk.owner()].name == "fill.cu");
    desk.session.desk.set_text("#define VALUE 5.0f\n");
    desk.settle();
    CHECK(read_file(header).value() == "#define VALUE 2.0f\n");  // nobody asked
    desk.key(KeyCode::f5);
    desk.settle();
    CHECK(read_file(header).value() == "#define VALUE 5.0f\n");
    CHECK(desk.session.desk.document().name == "fill.cu");
    CHECK(first_value(desk) == 5);
}

TEST_CASE("a tab whose text is not saved is closed by asking twice, and typing in between asks anew") {
    const test::Scratch scratch;
    Desk desk;
    desk.open(scratch.write("a.ptx", "// a"));
    desk.open(scratch.write("b.ptx", "// b"));
    desk.session.desk.set_text("// b, and more");
    desk.frames(2);
    REQUIRE(desk.click_on("×"));
    CHECK(desk.session.desk.document().text == "// b, and more");
    CHECK(desk.session.desk.tabs().size() == 2);
    desk.settle();
    CHECK(desk.said().find("'b.ptx' is not saved") != std::string::npos);
    desk.session.desk.set_text("// b, and still more");
    desk.frames(2);
    REQUIRE(desk.click_on("×"));
    CHECK(desk.session.desk.tabs().size() == 2);
    REQUIRE(desk.click_on("×"));
    CHECK(desk.session.desk.tabs().size() == 1);
    CHECK(desk.session.desk.document().name == "a.ptx");
    CHECK(read_file(scratch.folder / "b.ptx").value() == "// b");
    desk.open(scratch.write("c.ptx", "// c"));  // what is saved is closed at once
    REQUIRE(desk.click_on("×"));
    CHECK(desk.session.desk.tabs().size() == 1);
}

TEST_CASE("saving over a file that is there, or in a folder that is not, asks first, and one path is one document's") {
    const test::Scratch scratch;
    const std::string there = scratch.write("there.ptx", "// of somebody");
    Desk desk;
    desk.open(there);
    desk.open(scratch.write("mine.ptx", "// mine"));
    KernelDesk& on = desk.session.desk;
    const auto why = on.save(there);
    REQUIRE(why);
    CHECK(*why == "there is a file 'there.ptx' already: save again to write over it");
    CHECK(read_file(there).value() == "// of somebody");
    const auto folder = scratch.folder / "none" / "here.ptx";
    REQUIRE(on.save(folder));
    CHECK_FALSE(std::filesystem::exists(scratch.folder / "none"));
    REQUIRE(on.save(there));  // something else was asked in between
    CHECK_FALSE(on.save(there));
    CHECK(read_file(there).value() == "// mine");
    CHECK(on.document().name == "there.ptx");
    CHECK(on.tabs().size() == 1);
    CHECK_FALSE(on.save(there));  // its own is saved at once
    REQUIRE(on.save(folder));
    CHECK_FALSE(on.save(folder));
    CHECK(read_file(folder).value() == "// mine");

    desk.open(there);  // and what is open there with changes is named
    on.set_text("// typed");
    desk.open(scratch.write("mine.ptx", "// mine"));
    CHECK(on.save(there)->find("'there.ptx' is open too") == 0);
    desk.key(KeyCode::s, true, true);
    desk.frames(2);
    CHECK(desk.shows("Enter saves."));
}

}  // namespace gui_tabs_test
