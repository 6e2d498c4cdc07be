#include "lessons/player/companion/handout.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/base64.h"
#include "core/base/files.h"

namespace lockstep::lessons {
namespace {

constexpr std::string_view style = R"(
  body { font: 11pt/1.45 Inter, "Helvetica Neue", Arial, sans-serif; color: #1b1f24; max-width: 46em; margin: 2em auto; padding: 0 1em }
  h1 { font-size: 1.7em; margin: 0 0 .1em } h2 { font-size: 1.15em; margin: 1.6em 0 .3em; break-after: avoid }
  h3 { font-size: 1em; margin: 1em 0 .2em; break-after: avoid }
  .quiet { color: #5b6570 } .asked { font-weight: 600; margin: .6em 0 .2em }
  section, figure, table, pre { break-inside: avoid } figure { margin: .6em 0 } img { width: 100%; border: 1px solid #c9d1d9 }
  pre { background: #f3f5f7; padding: .6em .8em; overflow-x: auto; font: 9.5pt/1.4 "JetBrains Mono", Consolas, monospace }
  code { font-family: "JetBrains Mono", Consolas, monospace; font-size: .92em }
  ol.answers { list-style: upper-alpha; margin: .2em 0 } .room { border-bottom: 1px solid #8a949e; height: 1.7em }
  .truth { border-left: 3px solid #1a7f37; padding-left: .7em; margin: .4em 0 } .note { border-left: 3px solid #b07d00; padding-left: .7em }
  table { border-collapse: collapse; width: 100%; margin: .4em 0 } td, th { text-align: left; vertical-align: top; padding: .2em .6em .2em 0; border-bottom: 1px solid #dde2e7 }
  @media print { body { margin: 0; max-width: none } }
)";

std::string escaped(std::string_view text) {
    std::string all;
    for (const char c : text) {
        if (c == '<')
            all += "&lt;";
        else if (c == '>')
            all += "&gt;";
        else if (c == '&')
            all += "&amp;";
        else if (c == '"')
            all += "&quot;";
        else
            all += c;
    }
    return all;
}

std::string runs_html(const std::vector<TextRun>& runs) {
    std::string html;
    for (const TextRun& run : runs) {
        std::string text = escaped(run.text);
        if (run.code) text = "<code>" + text + "</code>";
        if (run.italic) text = "<em>" + text + "</em>";
        if (run.bold) text = "<strong>" + text + "</strong>";
        html += text;
    }
    return html;
}

std::string prose_html(const std::vector<TextBlock>& blocks) {
    std::string html;
    bool list = false;
    for (const TextBlock& block : blocks) {
        const bool item = block.kind == TextBlock::Kind::list_item;
        if (item != list) html += item ? "<ul>\n" : "</ul>\n";
        list = item;
        if (block.kind == TextBlock::Kind::code) {
            std::string text;
            for (const TextRun& run : block.runs) text += run.text;
            html += "<pre>" + escaped(text) + "</pre>\n";
        } else if (block.kind == TextBlock::Kind::heading) {
            html += "<h3>" + runs_html(block.runs) + "</h3>\n";
        } else {
            html += fmt::format(fmt::runtime(item ? "<li>{}</li>\n" : "<p>{}</p>\n"), runs_html(block.runs));
        }
    }
    return html + (list ? "</ul>\n" : "");
}

class Page {
  public:
    Page(const Lesson& lesson, const Handout& handout) : lesson_(lesson), handout_(handout) {}

    std::string write() {
        head();
        if (handout_.answers && handout_.companion) lecturer();
        for (size_t i = 0; i < lesson_.steps.size(); ++i) step(i);
        if (handout_.companion) ending();
        html_ += "</body>\n</html>\n";
        return std::move(html_);
    }

  private:
    template <class... T>
    void line(fmt::format_string<T...> format, T&&... values) {
        html_ += fmt::format(format, std::forward<T>(values)...);
        html_ += '\n';
    }

    void head() {
        line("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{} {}</title>",
             escaped(lesson_.id), escaped(lesson_.title));
        line("<style>{}</style>\n</head>\n<body>", style);
        line("<h1>{} {}</h1>", escaped(lesson_.id), escaped(lesson_.title));
        if (!lesson_.question.empty()) line("<p><strong>{}</strong></p>", escaped(lesson_.question));
        line("<p class=\"quiet\">{} minutes, on a modelled {}. {}</p>", lesson_.minutes, escaped(lesson_.gpu),
             handout_.answers ? "For the lecturer: with what the run says."
                              : "Answer on paper, then run the lesson in Lockstep: the run says what is right.");
        if (handout_.learner != 0)
            line(
                "<p class=\"quiet\">Order of answers: {}, the app's on the computer that printed this unless --order said "
                "another.</p>",
                handout_.learner);
    }

    // The text that the step is about, where it is another one than before. A student's page has no picture of a run: it
    // would answer this question, or the one before.
    void source(size_t at) {
        const scene::Scene* const scene = scene_at(lesson_, at);
        if (scene == nullptr) return;
        const std::string& file = !scene->file.empty() ? scene->file : !scene->host.empty() ? scene->host : scene->tape;
        if (file.empty() || file == shown_) return;
        const Result<std::string> text = read_text(lesson_.folder / file, size_t{1} << 16);
        if (!text) return;
        shown_ = file;
        line("<pre>{}</pre>", escaped(text.value()));
    }

    void picture(size_t at, bool answered) {
        const std::string png = handout_.picture ? handout_.picture(at, answered) : std::string();
        if (png.empty()) return;
        line("<figure><img alt=\"The picture of step {}{}\" src=\"data:image/png;base64,{}\"></figure>", at + 1,
             answered ? ", answered" : "", base64({reinterpret_cast<const unsigned char*>(png.data()), png.size()}));
    }

    void step(size_t at) {
        const Step& step = lesson_.steps[at];
        line("<section>\n<h2>{}. {} <span class=\"quiet\">{}</span></h2>", at + 1, escaped(step.title), escaped(step.verb));
        html_ += prose_html(step.prose);
        source(at);
        const bool sketches = std::ranges::any_of(step.predicts, [](const Predict& one) { return one.is_sketch(); });
        if (handout_.answers || sketches) picture(at, handout_.answers && !step.predicts.empty());
        for (size_t p = 0; p < step.predicts.size(); ++p) prediction(at, p);
        for (const Exercise& exercise : step.exercises) {
            line("<p class=\"asked\">Exercise: {}</p>", escaped(exercise.prompt));
            line("<p class=\"quiet\">It counts when <code>{}</code>. Hand in <code>{}</code>.</p>",
                 escaped(exercise.check.text()), escaped(exercise.file));
        }
        if (handout_.answers) {
            if (!step.presenter_notes.empty()) line("<div class=\"note\">{}</div>", prose_html(step.presenter_notes));
            for (const Hint& hint : step.hints)
                line("<p class=\"quiet\">Hint after {} wrong: {}</p>", hint.after, escaped(hint.text));
        }
        same(static_cast<int>(at) + 1);
        line("</section>");
    }

    void prediction(size_t at, size_t p) {
        const Predict& predict = lesson_.steps[at].predicts[p];
        line("<p class=\"asked\">{}</p>", escaped(predict.question));
        if (predict.is_sketch()) {
            if (!handout_.answers)
                line("<p class=\"quiet\">Put it into the picture, or write it here:</p><div class=\"room\"></div>");
        } else {
            line("<ol class=\"answers\">");
            for (const size_t a : shown_order(lesson_, predict, handout_.learner))
                line("<li>{}{}</li>", escaped(predict.answers[a].text),
                     predict.answers[a].detail.empty()
                         ? ""
                         : " <span class=\"quiet\">" + escaped(predict.answers[a].detail) + "</span>");
            line("</ol>");
        }
        if (!handout_.answers || at >= handout_.answers->steps.size() || p >= handout_.answers->steps[at].predicts.size())
            return;
        const PredictRun& run = handout_.answers->steps[at].predicts[p];
        line("<div class=\"truth\">The run says {}. <code>{}</code>{}</div>", escaped(said(predict, run)), escaped(run.of),
             run.sketch.empty() ? "" : "<br>" + escaped(run.sketch));
        if (!handout_.companion) return;
        for (const Companion::Split& split : handout_.companion->splits)
            if (split.predict == predict.id)
                line("<div class=\"note\">Expected, a judgement: {} To them: {}</div>", escaped(split.most),
                     escaped(split.say));
    }

    // A choice by its words, a number with the unit of its picture: what says the same twice stands once.
    static std::string said(const Predict& predict, const PredictRun& run) {
        if (predict.type == "choice" && !run.answer.empty()) return run.answer;
        const std::string unit = predict.sketch.unit.empty() ? "" : " " + predict.sketch.unit;
        const std::string number = fmt::format("{:.4g}", run.truth);
        return run.answer.empty() || run.answer == number || predict.is_sketch() ? number + unit
                                                                                 : number + ": " + run.answer;
    }

    void same(int at) {
        if (!handout_.companion) return;
        for (const Companion::Same& one : handout_.companion->same)
            if (one.step == at)
                line("<h3>The same {}: {}</h3>\n<pre>{}</pre>", escaped(one.where()), escaped(one.title), escaped(one.code));
    }

    void lecturer() {
        for (const Companion::Plan& plan : handout_.companion->plans) {
            line("<section>\n<h2>{} minutes</h2>\n<table><tr><th>from</th><th>step</th><th>what</th></tr>", plan.minutes);
            int from = 0;
            for (const Companion::PlanPart& part : plan.parts) {
                line("<tr><td>{} min</td><td>{}</td><td>{}</td></tr>", from, part.step, escaped(part.what));
                from += part.minutes;
            }
            line("</table>\n</section>");
        }
        if (handout_.companion->misconceptions.empty()) return;
        line("<section>\n<h2>What students believe</h2>\n<table><tr><th>they say</th><th>instead</th><th>step</th></tr>");
        for (const Companion::Misconception& one : handout_.companion->misconceptions)
            line("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", escaped(one.believed), escaped(one.instead), one.step);
        line("</table>\n</section>");
    }

    void ending() {
        const Companion& companion = *handout_.companion;
        if (handout_.answers)
            line("<section>\n<h2>What the lesson found</h2>\n<p>{}</p>\n</section>", escaped(companion.recap));
        line("<section>\n<h2>To think about</h2>\n<ol>");
        for (const Companion::Question& question : companion.questions)
            line("<li>{}{}</li>", escaped(question.ask),
                 handout_.answers ? "<div class=\"truth\">" + escaped(question.answer) + "</div>"
                                  : "<div class=\"room\"></div><div class=\"room\"></div>");
        line("</ol>");
        if (!companion.back.empty()) line("<p class=\"quiet\">It rests on {}</p>", escaped(companion.back));
        if (!companion.forward.empty()) line("<p class=\"quiet\">It goes on in {}</p>", escaped(companion.forward));
        line("</section>");
    }

    const Lesson& lesson_;
    const Handout& handout_;
    std::string html_, shown_;  // shown_: the file whose text stands last
};

}  // namespace

std::string handout_page(const Lesson& lesson, const Handout& handout) {
    return Page(lesson, handout).write();
}

std::string plan_text(const Lesson& lesson, const Companion& companion, int minutes) {
    const Companion::Plan* const plan = companion.plan(minutes);
    if (plan == nullptr) {
        std::string known;
        for (const Companion::Plan& one : companion.plans)
            known += fmt::format("{}{}", known.empty() ? "" : ", ", one.minutes);
        throw Failure(
            fmt::format("lesson {} has no plan for {} minutes; there are plans for {}", lesson.id, minutes, known));
    }
    std::string text = fmt::format("{} {}: {} minutes\n", lesson.id, lesson.title, plan->minutes);
    int from = 0;
    for (const Companion::PlanPart& part : plan->parts) {
        const auto at = static_cast<size_t>(part.step) - 1;
        text += fmt::format("  {:>3} min  step {:>2}  {}: {}\n", from, part.step,
                            at < lesson.steps.size() ? lesson.steps[at].title : "", part.what);
        from += part.minutes;
    }
    if (from < plan->minutes)
        text += fmt::format("  {:>3} min  {} left for questions\n", from,
                            plan->minutes - from == 1 ? "a minute is" : fmt::format("{} minutes are", plan->minutes - from));
    if (!companion.misconceptions.empty()) text += "\nWhat students believe\n";
    for (const Companion::Misconception& one : companion.misconceptions)
        text += fmt::format("  \"{}\"\n      {} (step {})\n", one.believed, one.instead, one.step);
    if (!companion.splits.empty()) text += "\nHow a class tends to divide (a judgement)\n";
    for (const Companion::Split& split : companion.splits)
        text += fmt::format("  {}: {}\n      {}\n", split.predict, split.most, split.say);
    return text;
}

}  // namespace lockstep::lessons
