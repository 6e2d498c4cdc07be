// Notebooks that `lockstep run` and `lockstep grade --program` take: which cells are a program, and what belongs to it.
#include "app/cli/lesson/notebook.h"

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "tests/cli/support.h"

namespace cli_notebook_test {

namespace fs = std::filesystem;
using namespace lockstep;
using namespace lockstep::cli;

namespace {
std::string notebook(const std::vector<std::string>& cells) {
    nlohmann::json all = nlohmann::json::array({{{"cell_type", "markdown"}, {"source", {"# Homework"}}}});
    for (const std::string& text : cells) all.push_back({{"cell_type", "code"}, {"source", text}});
    return nlohmann::json{{"cells", all}, {"nbformat", 4}}.dump();
}

struct Unpacked {
    TemporaryFolder folder;
    NotebookProgram program;
    std::vector<std::string> sources;  // without their folder
    std::string text(const std::string& name) const { return read_text(folder.path() / name).value(); }
};
std::unique_ptr<Unpacked> unpacked(const std::vector<std::string>& cells) {
    auto made = std::make_unique<Unpacked>();
    made->program = unpack_notebook(write("homework.ipynb", notebook(cells)), made->folder.path()).value();
    for (const std::string& source : made->program.sources) made->sources.push_back(fs::path(source).filename().string());
    return made;
}

const std::string kernel = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";
const std::string program =
    "int main() {\n    float* x;\n    cudaMalloc(&x, 128);\n    twice<<<1, 32>>>(x);\n"
    "    return cudaDeviceSynchronize();\n}\n";
}  // namespace

TEST_CASE("a cell with main() is the program of a notebook, line by line as in the cell") {
    const auto cell = unpacked({"print(1)", "%%cu\n" + kernel + "int main() { return 3; }\n", "%%cu\n" + kernel + program});
    CHECK(cell->sources == std::vector<std::string>{"cell3.cu"});
    CHECK(cell->program.told == "code cell 3 of homework.ipynb");
    CHECK(cell->text("cell3.cu") == "#line 1 \"homework.ipynb, cell 3\"\n\n" + kernel + program);
}

TEST_CASE("what cells write is compiled with the program that another one writes") {
    const auto files =
        unpacked({"%%writefile util.h\nvoid help();\n", "%%writefile src/util.cu\n#include \"util.h\"\nvoid help() {}\n",
                  "%%writefile main.cu\n#include \"util.h\"\nint main() { return 1; }\n",
                  "%%writefile other.cu\nint main() { return 2; }\n", "%%writefile main.cu\n" + kernel + program});
    CHECK(files->sources == std::vector<std::string>{"main.cu", "util.cu"});
    CHECK(files->text("main.cu") == "#line 1 \"homework.ipynb, cell 5\"\n\n" + kernel + program);  // the newest of the name
    CHECK(files->text("util.h") == "#line 1 \"homework.ipynb, cell 1\"\n\nvoid help();\n");
}

TEST_CASE("plain cells in front of a plain program belong to it") {
    const auto plain = unpacked({"#include <cstdio>\n" + kernel, "print(2)", program});
    CHECK(plain->program.told == "code cell 3 of homework.ipynb, with cell 1");
    const std::string text = plain->text("cell3.cu");
    CHECK(text.find("#line 1 \"homework.ipynb, cell 1\"\n#include <cstdio>\n" + kernel) == 0);
    CHECK(text.find("#line 1 \"homework.ipynb, cell 3\"\n" + program) != std::string::npos);
}

TEST_CASE("a notebook without a main() stands for its last kernels, one without CUDA is refused") {
    const auto kernels = unpacked({kernel, "%%cu\n" + kernel + "// newer\n", "print(3)"});
    CHECK(kernels->sources == std::vector<std::string>{"cell2.cu"});
    refuses("run " + write("python.ipynb", notebook({"print(1)"})), "no cell of this notebook is CUDA");
    refuses("run " + write("broken.ipynb", "{}"), "this is no notebook");
    // A cell writes nowhere but into the folder.
    const auto away = unpacked({"%%writefile ../../away.cu\n" + kernel + program});
    CHECK(away->sources == std::vector<std::string>{"away.cu"});
    CHECK(fs::is_regular_file(away->folder.path() / "away.cu"));
}

TEST_CASE("a notebook is run and graded as its program is") {
    const std::string file =
        write("graded.ipynb", notebook({"%%cu\n#include <cstdio>\n" + kernel +
                                        "int main() {\n    float* x;\n    cudaMalloc(&x, 128);\n"
                                        "    cudaMemset(x, 0, 128);\n    twice<<<1, 32>>>(x);\n"
                                        "    cudaDeviceSynchronize();\n    cudaFree(x);\n    puts(\"done\");\n}\n"}));
    const Outcome run = lockstep_command("run " + file + " --report none");
    if (run.status == 3) return;  // no compiler for whole programs
    INFO(run.err);
    CHECK(run.status == 0);
    CHECK(run.out == "done\n");
    CHECK(run.err.find("runs code cell 1 of graded.ipynb") != std::string::npos);
    const std::string wrong =
        write("wrong.ipynb", notebook({"print(1)", "%%writefile a.cu\n" + kernel +
                                                       "int main() {\n    float* x;\n    cudaMalloc(&x, 64);\n"
                                                       "    cudaMemset(x, 0, 64);\n    twice<<<1, 32>>>(x);\n"
                                                       "    return cudaDeviceSynchronize() == 0;\n}\n"}));
    const Outcome told_of = lockstep_command("run " + wrong + " --check all");
    INFO(told_of.err);
    CHECK(told_of.err.find("wrong.ipynb, cell 2:2: ") != std::string::npos);
    CHECK(told_of.err.find("/wrong.ipynb, cell") == std::string::npos);  // no temporary folder
    const Outcome graded =
        lockstep_command("grade --program --format json --expect " + write("done.txt", "done\n") + " --submission " + file);
    if (graded.status == 3) return;  // no sandbox
    INFO(graded.err << graded.out);
    CHECK(graded.status == 0);
    const auto told = nlohmann::json::parse(graded.out)["submissions"][0]["exercises"][0];
    CHECK(told["file"] == "graded.ipynb");
    const fs::path folder = scratch() / "alice";
    fs::create_directories(folder);
    fs::copy_file(file, folder / "homework.ipynb", fs::copy_options::overwrite_existing);
    CHECK(lockstep_command("grade --program --expect " + write("done.txt", "done\n") + " --submission " + folder.string())
              .status == 0);
}

}  // namespace cli_notebook_test
