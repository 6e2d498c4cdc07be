// What the app remembers of one person from start to start, as plain data: how it looks and where she stood. Pictures,
// recordings and texts (--screenshot, --record, --describe) neither read nor write it; what the command line says wins.
//   $XDG_STATE_HOME/lockstep/remembered.json: {"theme":"dark","text_size":1.25,"window":{"width":1600,"height":1000}, ...}
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::gui {

class StateKeeper;

struct Remembered {
    std::string theme;                                  // a name of theme_named(); "": none was kept, as in all that follow
    double text_size = 0;                               // 1 is 100 %; 0: none
    std::string motion;                                 // "full" or "reduced"; "": as the desktop says
    std::string gpu;                                    // as model::gpu_named() takes it
    std::string workspace;                              // of the table in scenes.h
    int width = 0, height = 0;                          // of the window, in the screen's coordinates
    bool whole_screen = false;                          // the window is maximised
    std::map<std::string, std::vector<double>> panels;  // shares of a row's or a column's length, by its panels' names
    std::string lesson;                                 // that was open, and its step from 0
    int lesson_step = -1;
    std::string kernel;  // the label of the kernel that was on show, how long it takes, and where its clock stood
    int64_t cycles = 0, cycle = -1;
    double speed = 0;                           // steps a second of the transport; 0: as the picture says
    bool line_heat = true, line_values = true;  // what stands beside a kernel's lines (keys H and I)
    bool operator==(const Remembered&) const = default;
};

struct RememberedRead {
    Remembered kept;
    std::string problem;  // what was wrong with the file, in one sentence; "": nothing
};
// A file that is not there says nothing. One that is none of ours is set aside, as "remembered.json.unreadable"; of a value
// that cannot be (a theme that is not known) the rest is taken.
RememberedRead read_remembered(const std::filesystem::path& file);
Remembered parse_remembered(const std::string& text, std::string& problem);
std::string text_of(const Remembered& kept);
// Of two windows: what this one changed since `before`, over what another wrote meanwhile.
Remembered merged(const Remembered& theirs, const Remembered& before, const Remembered& mine);

class RememberedKeeper {
  public:
    static constexpr double quiet_seconds = 0.7;  // after a change, before it is written
    RememberedKeeper(std::filesystem::path file, Remembered read);
    ~RememberedKeeper();  // what is not written yet is written now
    RememberedKeeper(const RememberedKeeper&) = delete;
    RememberedKeeper& operator=(const RememberedKeeper&) = delete;
    // Once a frame: how things stand. True: please draw again soon.
    bool note(const Remembered& now, double seconds);
    const Remembered& noted() const { return now_; }
    std::string problem();  // see StateKeeper

  private:
    void write();
    std::filesystem::path file_;
    Remembered written_, now_;
    double changed_at_ = -1;
    std::unique_ptr<StateKeeper> keeper_;
};

}  // namespace lockstep::gui
