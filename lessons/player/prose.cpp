// md4c calls back when a block or a span begins and ends; the callbacks below collect runs into the open block.
#include "lessons/player/prose.h"

#include <md4c.h>

#include <algorithm>
#include <cctype>

namespace lockstep::lessons {
namespace {

struct Collector {
    std::vector<TextBlock> blocks;
    TextBlock open;
    int items = 0, bold = 0, italic = 0, code = 0;

    void close() {
        if (open.kind == TextBlock::Kind::code && !open.runs.empty())  // md4c ends a code block with a newline
            while (!open.runs.back().text.empty() && open.runs.back().text.back() == '\n') open.runs.back().text.pop_back();
        if (!open.runs.empty()) blocks.push_back(std::move(open));
        open = {};
        open.kind = items ? TextBlock::Kind::list_item : TextBlock::Kind::paragraph;
    }
    void add(const std::string& text) {
        const TextRun run{text, bold > 0, italic > 0, code > 0};
        if (!open.runs.empty()) {
            TextRun& last = open.runs.back();
            if (last.bold == run.bold && last.italic == run.italic && last.code == run.code) {
                last.text += text;
                return;
            }
        }
        open.runs.push_back(run);
    }
};

int enter_block(MD_BLOCKTYPE type, void*, void* user) {
    auto& c = *static_cast<Collector*>(user);
    if (type == MD_BLOCK_LI) ++c.items;
    if (type == MD_BLOCK_LI || type == MD_BLOCK_P || type == MD_BLOCK_CODE || type == MD_BLOCK_H) c.close();
    if (type == MD_BLOCK_CODE) c.open.kind = TextBlock::Kind::code;
    if (type == MD_BLOCK_H) c.open.kind = TextBlock::Kind::heading;
    return 0;
}

int leave_block(MD_BLOCKTYPE type, void*, void* user) {
    auto& c = *static_cast<Collector*>(user);
    if (type == MD_BLOCK_LI) {
        c.close();
        --c.items;
    }
    if (type == MD_BLOCK_LI || type == MD_BLOCK_P || type == MD_BLOCK_CODE || type == MD_BLOCK_H) c.close();
    return 0;
}

int span(MD_SPANTYPE type, int change, void* user) {
    auto& c = *static_cast<Collector*>(user);
    if (type == MD_SPAN_STRONG) c.bold += change;
    if (type == MD_SPAN_EM) c.italic += change;
    if (type == MD_SPAN_CODE) c.code += change;
    return 0;
}
int enter_span(MD_SPANTYPE type, void*, void* user) {
    return span(type, 1, user);
}
int leave_span(MD_SPANTYPE type, void*, void* user) {
    return span(type, -1, user);
}

int text(MD_TEXTTYPE type, const MD_CHAR* characters, MD_SIZE size, void* user) {
    auto& c = *static_cast<Collector*>(user);
    if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR)
        c.add(" ");
    else if (type == MD_TEXT_NULLCHAR)
        c.add("\xEF\xBF\xBD");  // the replacement character, as CommonMark asks
    else
        c.add(std::string(characters, size));
    return 0;
}

}  // namespace

std::vector<TextBlock> parse_prose(const std::string& markdown) {
    MD_PARSER parser = {};
    parser.flags = MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS;
    parser.enter_block = enter_block;
    parser.leave_block = leave_block;
    parser.enter_span = enter_span;
    parser.leave_span = leave_span;
    parser.text = text;
    Collector collector;
    md_parse(markdown.data(), static_cast<MD_SIZE>(markdown.size()), &parser, &collector);
    collector.close();
    return std::move(collector.blocks);
}

int word_count(const std::vector<TextBlock>& prose) {
    int words = 0;
    for (const TextBlock& block : prose) {
        if (block.kind == TextBlock::Kind::code) continue;
        bool inside = false;  // runs join without a space: "`i`," is one word
        for (const TextRun& run : block.runs)
            for (const char c : run.text) {
                const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
                if (!blank && !inside) ++words;
                inside = !blank;
            }
    }
    return words;
}

}  // namespace lockstep::lessons
