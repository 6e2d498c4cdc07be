// Vector pictures: each is well-formed XML, has what the view wrote as text, and its shapes as shapes.
#include "app/gui/widgets/svg.h"

#include <imgui.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "app/gui/window/canvas.h"
#include "core/base/diagnostic.h"
#include "core/system/system.h"
#include "tests/gui/sm_desk.h"

namespace gui_svg_test {

using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

struct Element {
    std::string name, attributes, text;  // text: that lies in it or below it
};

// Reads XML as strictly as its specification wants it; throws on what is not well-formed.
class Xml {
  public:
    explicit Xml(const std::string& text) : text_(text) {
        if (text.starts_with("<?xml")) at_ = text.find("?>") + 2;
        std::vector<size_t> open;
        while (at_ < text.size()) {
            if (text[at_] != '<') {
                const std::string plain = unescaped('<');
                for (const size_t element : open) elements[element].text += plain;
                if (open.empty() && plain.find_first_not_of(" \n") != std::string::npos)
                    fail("text outside of all elements");
                continue;
            }
            const bool closes = text.compare(at_, 2, "</") == 0;
            at_ += closes ? 2 : 1;
            const std::string name = word();
            if (closes) {
                if (open.empty() || elements[open.back()].name != name) fail("</" + name + "> closes another element");
                open.pop_back();
                expect('>');
                continue;
            }
            if (open.empty() && !elements.empty()) fail("a second root");
            elements.push_back({name, {}, {}});
            const bool empty = attributes(elements.back());
            if (!empty) open.push_back(elements.size() - 1);
        }
        if (!open.empty()) fail("<" + elements[open.back()].name + "> is never closed");
    }
    std::vector<Element> elements;
    size_t count(const std::string& name) const {
        size_t found = 0;
        for (const Element& element : elements) found += element.name == name ? 1 : 0;
        return found;
    }
    bool has(const std::string& name, const std::string& attribute) const {
        for (const Element& element : elements)
            if (element.name == name && element.attributes.find(attribute) != std::string::npos) return true;
        return false;
    }

  private:
    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error(why + " at byte " + std::to_string(at_) + ": " + text_.substr(at_, 60));
    }
    void expect(char c) {
        if (at_ >= text_.size() || text_[at_] != c) fail(std::string("expected ") + c);
        ++at_;
    }
    std::string word() {
        const size_t begin = at_;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == ':' || text_[at_] == '-'))
            ++at_;
        if (at_ == begin) fail("a name is missing");
        return text_.substr(begin, at_ - begin);
    }
    bool attributes(Element& element) {  // true: "/>"
        std::vector<std::string> names;
        for (;;) {
            const bool space = text_[at_] == ' ';
            while (text_[at_] == ' ') ++at_;
            if (text_[at_] == '/') return ++at_, expect('>'), true;
            if (text_[at_] == '>') return ++at_, false;
            if (!space) fail("no space between attributes");
            const std::string name = word();
            if (std::find(names.begin(), names.end(), name) != names.end()) fail(name + " is there twice");
            names.push_back(name);
            expect('=');
            expect('"');
            element.attributes += " " + name + "=\"" + unescaped('"') + "\"";
            expect('"');
        }
    }
    std::string unescaped(char end) {
        std::string plain;
        for (; at_ < text_.size() && text_[at_] != end; ++at_) {
            const auto byte = static_cast<unsigned char>(text_[at_]);
            if (byte < 0x20 && byte != '\n' && byte != '\t') fail("a control character");
            if (byte == '<') fail("a bare <");
            if (byte != '&') {
                plain += text_[at_];
                continue;
            }
            const size_t semicolon = text_.find(';', at_);
            const std::string entity = text_.substr(at_, semicolon - at_ + 1);
            const std::pair<const char*, char> known[] = {
                {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
            const auto* found =
                std::find_if(std::begin(known), std::end(known), [&](const auto& k) { return k.first == entity; });
            if (found == std::end(known)) fail("a bare &");
            plain += found->second;
            at_ = semicolon;
        }
        return plain;
    }
    const std::string& text_;
    size_t at_ = 0;
};

std::string contents(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string plain_letters(std::string text) {  // a raised T is a T in a span
    for (size_t at; (at = text.find("ᵀ")) != std::string::npos;) text.replace(at, std::string("ᵀ").size(), "T");
    return text;
}

struct Folder {
    std::filesystem::path path = lockstep::system::make_temporary_folder();
    ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("the checker of this test refuses what is not well-formed") {
    for (const char* wrong : {"<a><b></a></b>", "<a>", "<a/><b/>", "<a x=1/>", "<a x=\"<\"/>", "<a>&</a>", "<a>\x01</a>",
                              "<a x=\"1\" x=\"2\"/>", "<a>&nbsp;</a>", "<a/>b"}) {
        CAPTURE(wrong);
        CHECK_THROWS(Xml(wrong));
    }
    CHECK(Xml("<a x=\"1 &lt; 2\"><b>q &amp; r</b></a>").elements[0].text == "q & r");
}

TEST_CASE("every workspace is a well-formed vector picture with the texts that its views wrote") {
    const Folder folder;
    for (const WorkspaceRow& space : workspaces) {
        for (const float scale : {1.0f, 1.5f}) {
            SmDesk desk(*workspace_named(space.name));
            desk.shell.text_scale = scale;
            const std::string file = (folder.path / "picture.svg").string();
            render_to_svg(desk.shell, 1280, 720, file);
            CAPTURE(space.name, scale);
            const std::string text = contents(file);
            const Xml xml(text);
            CHECK(xml.has("svg", "viewBox=\"0 0 1280 720\""));
            CHECK(desk.shell.state.svg == nullptr);
            std::vector<std::string> texts;
            for (const Element& element : xml.elements)
                if (element.name == "text") texts.push_back(element.text);
            CHECK(texts.size() >= desk.written.size());
            for (const UiState::Written& written : desk.written) {
                CAPTURE(written.text);
                CHECK(std::find(texts.begin(), texts.end(), plain_letters(written.text)) != texts.end());
            }
            CHECK(desk.written.size() > 10);
        }
    }
}

TEST_CASE("a vector picture of the warps has their colours as shapes and their codes as patterns") {
    const Folder folder;
    SmDesk desk(Workspace::sm);
    desk.shell.show_alone("warps");
    const std::string file = (folder.path / "warps.svg").string();
    render_to_svg(desk.shell, 1600, 1000, file);
    const std::string text = contents(file);
    const Xml xml(text);
    CHECK(xml.count("rect") > 300);
    CHECK(xml.count("clipPath") > 0);
    CHECK(xml.count("pattern") > 0);
    CHECK(xml.has("rect", "fill=\"url(#h0)\""));
    CHECK(xml.has("g", "clip-path=\"url(#c0)\""));
    CHECK(xml.has("path", "scale("));  // an icon
    CHECK_THROWS_AS(render_to_svg(desk.shell, 1600, 1000, "/no/such/folder/x.svg"), lockstep::Failure);
}

TEST_CASE("each primitive is one real shape, and what XML cannot hold is written otherwise") {
    SmDesk desk(Workspace::sm);
    Svg svg(400, 300, rgb(0x101216), 8);
    ImGui::NewFrame();
    Ui ui;
    ui.list = ImGui::GetBackgroundDrawList();
    ui.theme = desk.shell.theme;
    ui.fonts = &desk.shell.fonts;
    ui.state = &desk.shell.state;
    ui.state->svg = &svg;
    ui.rect({10, 10, 20, 30}, rgb(0xFF0000, 128), 4);
    ui.frame({50, 10, 20, 30}, rgb(0x00FF00), 2);
    ui.line({0, 5}, {40, 5}, data::white);
    ui.line({0, 0}, {40, 30}, data::white, 2);
    const Point bend[] = {{0, 100}, {50, 120}, {100, 100}};
    ui.polyline(bend, data::sky, 2, 6, 3);
    ui.polygon({{10, 200}, {30, 200}, {20, 220}}, data::orange);
    ui.circle({100, 200}, 9, data::green);
    ui.ring({130, 200}, 9, data::green, 2);
    ui.hatch({200, 10, 60, 60}, faded(data::blue, 0.5f), Hatch::cross);
    ui.hatch({200, 80, 60, 60}, data::blue, Hatch::dots);
    ui.clip({300, 0, 50, 50});
    ui.text(290, 20, "a<b & \"c\" 'd'\x01\xFF", {.weight = 600});
    ui.rect({0, 200, 10, 10}, data::white);  // outside of the clip
    ui.unclip();
    ui.text(10, 280, "mono", {.mono = true});
    ui.picture("p", 1, 2, 1, {300, 100, 40, 20}, [](std::span<Color> pixels) { pixels[0] = data::white; });
    ui.icon(20, 260, Icon::warning);
    ui.state->svg = nullptr;
    ImGui::Render();
    const std::string text = svg.finish();
    const Xml xml(text);
    CHECK(xml.has("rect", "x=\"10\" y=\"10\" width=\"20\" height=\"30\" rx=\"4\" fill=\"#ff0000\" fill-opacity=\"0.5\""));
    CHECK(
        xml.has("rect", "x=\"51\" y=\"11\" width=\"18\" height=\"28\" fill=\"none\" stroke=\"#00ff00\" stroke-width=\"2\""));
    CHECK(xml.has("rect", "x=\"0\" y=\"5\" width=\"40\" height=\"1\" fill=\"#ffffff\""));
    CHECK(xml.has("polyline", "points=\"0.5,0.5 40.5,30.5\""));
    CHECK(xml.has("polyline", "points=\"0,100 50,120 100,100\""));
    CHECK(xml.has("polyline", "stroke-dasharray=\"6 3\""));
    CHECK(xml.count("polyline") == 2);  // a dashed line is one, not one a dash
    CHECK(xml.has("polygon", "points=\"10,200 30,200 20,220\""));
    CHECK(xml.count("circle") == 2);
    CHECK(xml.count("pattern") == 2);
    CHECK(xml.has("rect", "fill=\"url(#h0)\" opacity=\"0.5\""));
    CHECK(xml.count("clipPath") == 1);
    CHECK(xml.count("image") == 1);
    CHECK(xml.has("image", "xlink:href=\"data:image/png;base64,iVBORw0KGgo"));
    std::vector<std::string> texts;
    for (const Element& element : xml.elements)
        if (element.name == "text") texts.push_back(element.text);
    CHECK(texts == std::vector<std::string>{"a<b & \"c\" 'd'\uFFFD\uFFFD", "mono"});
    CHECK(xml.has("text", "font-weight=\"600\""));
    CHECK(xml.has("text", "class=\"m\""));
    CHECK_FALSE(xml.has("rect", "x=\"0\" y=\"200\""));
    CHECK(xml.count("path") >= 3);  // strokes of the two hatches, the icon
}

}  // namespace gui_svg_test
