// The code editor: the text and its edits against a plain string, then the widget in a bare ImGui context, driven by keys
// and the pointer as a person does.
#include <imgui.h>

#include <algorithm>
#include <chrono>

#include "app/gui/shell/shell.h"
#include "app/gui/widgets/text_editor.h"
#include "core/base/rng.h"
#include "tests/catch.h"

namespace gui_editor_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

// Where a place is in the text as one string.
size_t offset_of(const TextBuffer& buffer, Place at) {
    size_t offset = at.column;
    for (size_t i = 0; i < at.line; ++i) offset += buffer.lines()[i].size() + 1;
    return offset;
}

TextBuffer buffer_with(std::string_view text) {
    TextBuffer buffer;
    buffer.set_text(text);
    return buffer;
}

struct Bench {  // one editor that fills a window of 800 x 600
    Fonts fonts;
    UiState state;
    TextEditor editor;
    EditorLook look;
    double now = 0;
    bool changed = false;
    int vertices = 0;
    std::string clipboard;

    Bench() {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        build_fonts(fonts, *ImGui::GetIO().Fonts, 1);
        state.clipboard = [this] { return clipboard; };
        state.set_clipboard = [this](const std::string& text) { clipboard = text; };
        editor.take_keyboard();
        frame();
    }
    ~Bench() { ImGui::DestroyContext(); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    void frame(const std::string& text = {}, const std::vector<KeyPress>& keys = {}, Point mouse = {-1, -1},
               bool down = false, bool clicked = false) {
        ImGui::GetIO().DisplaySize = {800, 600};
        ImGui::GetIO().DeltaTime = 1.0f / 60;
        ImGui::NewFrame();
        state.begin_frame();
        state.typed_keys = keys;
        for (const char c : text) state.typed_keys.push_back({KeyCode::none, false, false, static_cast<char32_t>(c)});
        state.mouse_down = down;
        state.mouse_clicked = clicked;
        refresh_hatches(fonts, *ImGui::GetIO().Fonts);
        Ui ui;
        ui.list = ImGui::GetBackgroundDrawList();
        ui.theme = &theme_named("dark");
        ui.fonts = &fonts;
        ui.state = &state;
        ui.now = now += 0.1;
        ui.mouse = mouse;
        changed = editor.draw(ui, {0, 0, 800, 600}, look);
        state.end_frame();
        ImGui::Render();
        vertices = ImGui::GetDrawData()->TotalVtxCount;
    }
    void type(const std::string& text) { frame(text); }
    void key(KeyCode code, bool shift = false, bool control = false) { frame({}, {{code, shift, control}}); }
    void key(char sign, bool shift = false) { key(static_cast<KeyCode>(sign), shift, true); }
};

}  // namespace

TEST_CASE("letters of East Asia take two cells, so that they are as large as the others") {
    CHECK(cells_of('a') == 1);
    CHECK(cells_of(0xE4) == 1);    // a with two dots
    CHECK(cells_of(0x6838) == 2);  // a kernel, in Chinese
    CHECK(cells_of(0xAC00) == 2);  // Hangul
    CHECK(cells_of(0x1F600) == 2);
    TextBuffer buffer;
    buffer.set_text("x = 1;  // \xE6\xA0\xB8\xE5\xBF\x83 end");
    CHECK(buffer.cells_before({0, 11}) == 11);
    CHECK(buffer.cells_before({0, 14}) == 13);
    CHECK(buffer.cells_before({0, 17}) == 15);
    CHECK(buffer.column_of_cell(0, 13) == 14);
    CHECK(buffer.column_of_cell(0, 12) == 14);  // in the midst of one: the nearer side
    CHECK(buffer.column_of_cell(0, 15) == 17);
}

TEST_CASE("random edits leave the text that plain string edits leave, and undo takes all of them back") {
    Rng rng(11);
    const std::string start = "one\n  two three\n\nfour \xC3\xA4\xE2\x82\xAC five\n";
    for (int round = 0; round < 60; ++round) {
        TextBuffer buffer = buffer_with(start);
        std::string plain = start;
        const std::vector<std::string> texts = {"x", "ab\ncd", "\n", "", "\xC3\xB6", "a\n\n\nb"};
        for (int edit = 0; edit < 40; ++edit) {
            Place from{rng.below(buffer.lines().size()), rng.below(30)}, to{rng.below(buffer.lines().size()), rng.below(30)};
            buffer.place(from);
            buffer.place(to, true);
            const size_t begin = offset_of(buffer, buffer.selection_begin()),
                         end = offset_of(buffer, buffer.selection_end());
            const std::string& text = texts[rng.below(texts.size())];
            plain = plain.substr(0, begin) + text + plain.substr(end);
            buffer.insert(text);
            REQUIRE(buffer.text() == plain);
            REQUIRE(offset_of(buffer, buffer.caret()) == begin + text.size());
        }
        while (buffer.undo()) {
        }
        CHECK(buffer.text() == start);
        while (buffer.redo()) {
        }
        CHECK(buffer.text() == plain);
    }
}

TEST_CASE("the caret never stands inside a character") {
    TextBuffer buffer = buffer_with(
        "a\xE2\x82\xAC"
        "b\n\xF0\x9F\x98\x80");
    buffer.place({0, 2});
    CHECK(buffer.caret().column == 1);
    buffer.move(Motion::right);
    CHECK(buffer.caret().column == 4);
    buffer.move(Motion::down);
    CHECK(buffer.caret() == Place{1, 4});
    buffer.backspace(false);
    CHECK(buffer.text() ==
          "a\xE2\x82\xAC"
          "b\n");
}

TEST_CASE("bytes that are no UTF-8 become question marks, and line ends become one kind") {
    CHECK(buffer_with("a\r\nb\rc\xFF"
                      "d\xC3")
              .text() == "a\nbc?d?");
    CHECK(valid_utf8(std::string("\0x", 2)) == "?x");
}

TEST_CASE("a new line keeps the indentation, and goes deeper behind a brace") {
    TextBuffer buffer = buffer_with("    if (x) {");
    buffer.move(Motion::text_end);
    buffer.new_line();
    CHECK(buffer.lines()[1] == "        ");
    buffer.type("}");
    CHECK(buffer.lines()[1] == "    }");
    buffer.set_text("f() {}");
    buffer.place({0, 5});
    buffer.new_line();
    CHECK(buffer.text() == "f() {\n    \n}");
    CHECK(buffer.caret() == Place{1, 4});
}

TEST_CASE("Tab indents the selected lines and Shift+Tab takes that back") {
    TextBuffer buffer = buffer_with("a\n\nb\nc");
    buffer.place({0, 0});
    buffer.place({3, 0}, true);
    buffer.indent(false);
    CHECK(buffer.text() == "    a\n\n    b\nc");
    buffer.indent(true);
    CHECK(buffer.text() == "a\n\nb\nc");
    CHECK(buffer.undo());
    CHECK(buffer.undo());
    CHECK(buffer.text() == "a\n\nb\nc");
    CHECK_FALSE(buffer.undo());
}

TEST_CASE("what is typed in one go is undone word by word") {
    TextBuffer buffer;
    for (const char c : std::string("int i")) buffer.type(std::string(1, c));
    CHECK(buffer.undo());
    CHECK(buffer.text() == "int");
    CHECK(buffer.undo());
    CHECK(buffer.text().empty());
}

TEST_CASE("find goes on behind the selection, around the end, and back") {
    TextBuffer buffer = buffer_with("sum\nSum\nx sum");
    REQUIRE(buffer.find("sum"));
    CHECK(buffer.selection_begin() == Place{0, 0});
    REQUIRE(buffer.find("sum"));
    CHECK(buffer.selection_begin() == Place{1, 0});
    REQUIRE(buffer.find("sum"));
    REQUIRE(buffer.find("sum"));
    CHECK(buffer.selection_begin() == Place{0, 0});
    REQUIRE(buffer.find("sum", true));
    CHECK(buffer.selection_begin() == Place{2, 2});
    CHECK_FALSE(buffer.find("nowhere"));
}

TEST_CASE("all places of a word are replaced at once and undone at once; one place is, and the next is found") {
    TextBuffer buffer = buffer_with("sum = Sum + 1;\nx sumsum");
    CHECK(buffer.all_of("sum") == std::vector<Place>{{0, 0}, {0, 6}, {1, 2}, {1, 5}});
    CHECK(buffer.all_of("").empty());
    CHECK(buffer.replace_all("sum", "total") == 4);
    CHECK(buffer.text() == "total = total + 1;\nx totaltotal");
    REQUIRE(buffer.undo());
    CHECK(buffer.text() == "sum = Sum + 1;\nx sumsum");
    buffer.place({0, 0});
    REQUIRE(buffer.replace_found("sum", "s"));  // nothing is selected yet: it is found
    CHECK(buffer.text() == "sum = Sum + 1;\nx sumsum");
    REQUIRE(buffer.replace_found("sum", "s"));
    CHECK(buffer.text() == "s = Sum + 1;\nx sumsum");
    CHECK(buffer.selection_begin() == Place{0, 4});
    CHECK(buffer.replace_all("nowhere", "x") == 0);
}

TEST_CASE("words of CUDA C++ and of PTX get their colours, over the lines of a comment too") {
    const auto kinds = [](std::string_view line, bool ptx, uint8_t state) {
        std::vector<ColouredWord> words;
        colour_line(line, ptx, state, words);
        std::vector<std::pair<std::string, WordKind>> found;
        for (const ColouredWord& word : words) found.emplace_back(line.substr(word.begin, word.end - word.begin), word.kind);
        return found;
    };
    using Found = std::vector<std::pair<std::string, WordKind>>;
    CHECK(kinds("__global__ void f(float4 x) { return 1.5e-3f; } // y", false, 0) ==
          Found{{"__global__", WordKind::qualifier},
                {"void", WordKind::type},
                {"float4", WordKind::type},
                {"return", WordKind::keyword},
                {"1.5e-3f", WordKind::number},
                {"// y", WordKind::comment}});
    CHECK(kinds("#define N \"a\\\"b\"", false, 0) ==
          Found{{"#define N ", WordKind::directive}, {"\"a\\\"b\"", WordKind::string}});
    std::vector<ColouredWord> words;
    CHECK(colour_line("x /* begins", false, 0, words) == 1);
    CHECK(kinds("ends */ int", false, 1) == Found{{"ends */", WordKind::comment}, {"int", WordKind::type}});
    CHECK(kinds("\t@%p1 bra $L1;", true, 0)[0] == std::pair<std::string, WordKind>{"%p1", WordKind::type});
    CHECK(kinds("\tadd.s32 %r1, %r2, 4;", true, 0)[0] == std::pair<std::string, WordKind>{"add.s32", WordKind::keyword});
}

TEST_CASE("typing, Enter, copy and paste through the widget edit the text") {
    Bench bench;
    REQUIRE(bench.editor.has_keyboard());
    bench.type("if (n) {");
    CHECK(bench.changed);
    bench.key(KeyCode::enter);
    bench.type("n = 1;");
    CHECK(bench.editor.buffer.text() == "if (n) {\n    n = 1;");
    bench.key(KeyCode::home, true);
    bench.key('C');
    CHECK(bench.clipboard == "n = 1;");
    bench.key(KeyCode::end);
    bench.key('V');
    CHECK(bench.editor.buffer.lines()[1] == "    n = 1;n = 1;");
    bench.key('Z');
    CHECK(bench.editor.buffer.lines()[1] == "    n = 1;");
    bench.key('Z', true);
    CHECK(bench.editor.buffer.lines()[1] == "    n = 1;n = 1;");
    // Within one frame characters and keys keep their order.
    bench.frame({}, {{KeyCode::none, false, false, U'a'},
                     {KeyCode::enter},
                     {KeyCode::none, false, false, U'\u00E4'},
                     {KeyCode::left},
                     {KeyCode::none, false, false, U'c'}});
    CHECK(bench.editor.buffer.lines()[1] == "    n = 1;n = 1;a");
    CHECK(bench.editor.buffer.lines()[2] == "    c\xC3\xA4");
    bench.key(KeyCode::escape);
    bench.frame();
    CHECK_FALSE(bench.editor.has_keyboard());
    bench.type("not for it");
    CHECK(bench.editor.buffer.text().find("not") == std::string::npos);
}

TEST_CASE("a press and a drag in the widget place the caret and select") {
    Bench bench;
    bench.editor.open("0123456789\nabcdefghij\n");
    bench.editor.take_keyboard();
    bench.frame();
    // Cells are one mono glyph wide; the text begins behind the numbers.
    const auto x_of = [&](int cell) { return 34 + 7.8f * static_cast<float>(2 + cell); };
    bench.frame({}, {}, {x_of(3), 34}, true, true);
    CHECK(bench.editor.buffer.caret() == Place{1, 3});
    bench.frame({}, {}, {x_of(6), 34}, true);
    CHECK(bench.editor.buffer.selected_text() == "def");
    bench.frame({}, {}, {x_of(6), 34}, false);
    bench.type("X");
    CHECK(bench.editor.buffer.lines()[1] == "abcXghij");
}

TEST_CASE("five thousand lines cost a frame no more than fifty") {
    Bench bench;
    std::string line = "    c[i] = a[i] + b[i];  // the same line again\n", few, many;
    for (int i = 0; i < 50; ++i) few += line;
    for (int i = 0; i < 5000; ++i) many += line;
    bench.editor.open(few);
    bench.frame();
    const int before = bench.vertices;
    bench.editor.open(many);
    bench.key(KeyCode::end, false, true);
    CHECK(bench.editor.buffer.caret().line == 5000);
    bench.frame();
    CHECK(bench.vertices < before * 2);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) bench.type("x");
    const double each = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 50;
    CHECK(each < 0.02);
}

TEST_CASE("a message on a line shows in the margin and find shows its bar") {
    Bench bench;
    bench.editor.open("int x = y;\n");
    bench.frame();
    const int plain = bench.vertices;
    const LineMark mark{1, Severity::error, "identifier \"y\" is undefined"};
    bench.look.marks = std::span(&mark, 1);
    bench.frame();
    CHECK(bench.vertices > plain);
    bench.frame({}, {}, {8, 14});
    CHECK(bench.state.tooltip.find("undefined") != std::string::npos);
    bench.editor.take_keyboard();
    bench.frame();
    bench.key('F');
    bench.frame();
    bench.type("x");
    CHECK(bench.editor.buffer.selected_text() == "x");
    CHECK(bench.editor.buffer.text() == "int x = y;\n");
    bench.key(KeyCode::escape);  // closes it at once
    bench.frame();
    bench.frame();
    bench.type("z");
    CHECK(bench.editor.buffer.text() == "int z = y;\n");
}

TEST_CASE("a focused control that is gone takes no keys, and Tab goes on from where it stood") {
    UiState state;
    const auto frame = [&](const std::vector<uint32_t>& ring) {
        state.begin_frame();
        state.ring = ring;
        state.end_frame();
    };
    frame({1, 2, 3, 4});
    state.focused = 3;
    frame({1, 2, 3, 4});
    CHECK(state.focused == 3);
    frame({1, 2, 4});
    CHECK(state.focused == 0);
    state.move_focus(1);
    CHECK(state.focused == 4);
    frame({1, 2, 4});
    frame({1, 2});
    state.move_focus(-1);
    CHECK(state.focused == 2);
    state.focused = 9;  // given before it is drawn: it keeps it
    frame({1, 2});
    CHECK(state.focused == 9);
}

}  // namespace gui_editor_test
