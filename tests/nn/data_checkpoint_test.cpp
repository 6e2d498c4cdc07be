// Checkpoints: the same bits again, and whole whatever fails: a full disk, a killed process, a changed byte.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/files.h"
#include "core/nn/data/files/checkpoint.h"
#include "core/nn/data/files/parameter_arrays.h"
#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"
#include "core/nn/train/training_options.h"
#include "tests/nn/data_support.h"

namespace nn_data_checkpoint_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {
Array floats(const std::vector<float>& list) {
    Array array{.dtype = DType::f32, .shape = {int64_t(list.size())}};
    array.bytes.resize(list.size() * 4);
    std::memcpy(array.bytes.data(), list.data(), array.bytes.size());
    return array;
}

Checkpoint sample(int64_t step, size_t values = 1000) {
    std::vector<float> list(values);
    for (size_t i = 0; i < values; ++i) list[i] = float(step) + float(i) / 7;
    Checkpoint checkpoint{.model = "mlp", .step = step, .seed = ~uint64_t{0}, .options = {{"batch", "64"}}};
    checkpoint.tensors = {{"fc1.weight", floats(list)}, {"fc1.weight.momentum", floats({std::nanf("7"), -0.0f})}};
    return checkpoint;
}

// While it lives no file of this process grows beyond `bytes`: a write fails as it does on a full disk.
struct SmallDisk {
    rlimit before;
    explicit SmallDisk(rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small{bytes, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallDisk() { ::setrlimit(RLIMIT_FSIZE, &before); }
};

size_t files_in(const std::filesystem::path& folder) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
}
}  // namespace

TEST_CASE("a checkpoint comes back to the bit") {
    const Scratch scratch("checkpoint");
    Checkpoint before = sample(400);
    Rng rng(17);
    for (int i = 0; i < 5; ++i) rng.next();
    before.keep("rng.dropout", rng);
    const double awkward[] = {0.1, 1.0 / 3, std::numeric_limits<double>::denorm_min(), 1e308, -0.0, 65536};
    for (size_t i = 0; i < std::size(awkward); ++i) before.keep(fmt::format("scale {}", i), awkward[i]);
    save_checkpoint(scratch.folder, before);
    const Checkpoint after = load_checkpoint(scratch.folder).value();
    CHECK(after.model == "mlp");
    CHECK(after.step == 400);
    CHECK(after.seed == ~uint64_t{0});
    CHECK(after.options == before.options);
    REQUIRE(after.tensors.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
        CHECK(after.tensors[i].name == before.tensors[i].name);
        CHECK(after.tensors[i].array.bytes == before.tensors[i].array.bytes);
    }
    Rng again = after.rng("rng.dropout");
    for (int i = 0; i < 5; ++i) CHECK(again.next() == rng.next());
    for (size_t i = 0; i < std::size(awkward); ++i) {
        const double got = after.number(fmt::format("scale {}", i));
        CHECK(std::memcmp(&got, &awkward[i], 8) == 0);
    }
    CHECK(fails_with("keeps no state 'lr'", [&] { (void)after.number("lr"); }));
    CHECK(fails_with("no tensor 'fc1.wieght', only one like it: 'fc1.weight'", [&] { (void)after.tensor("fc1.wieght"); }));
}

TEST_CASE("training that goes on from a checkpoint gives the same bits, for every model") {
    const Scratch scratch("resume");
    for (const ModelRow& row : models()) {
        INFO(row.name);
        TrainerOptions options{.model = std::string(row.name), .learning_rate = row.learning_rate, .seed = 3};
        options.batch = std::min<int64_t>(row.batch, 4);
        options.keep_launches = options.keep_images = false;
        if (row.name == "gpt" || row.name == "llama") options.dropout = 0.2;  // drawn again to the bit
        Trainer whole(options), first(options);
        std::vector<double> losses;
        for (int i = 0; i < 6; ++i) losses.push_back(whole.step().loss);
        for (int i = 0; i < 3; ++i) CHECK(first.step().loss == losses[size_t(i)]);
        save_checkpoint(scratch.folder, first.checkpoint());
        const Checkpoint loaded = load_checkpoint(scratch.folder).value();
        TrainerOptions again{.prefetch = true, .keep_launches = false, .keep_images = false};
        take_options(again, loaded);
        Trainer rest(again);
        rest.step();
        rest.restore(loaded);
        CHECK(rest.next_step() == 3);
        for (int i = 3; i < 6; ++i) CHECK(rest.step().loss == losses[size_t(i)]);
        const Checkpoint end = whole.checkpoint(), other = rest.checkpoint();
        CHECK(end.options == other.options);
        REQUIRE(end.tensors.size() == other.tensors.size());
        for (size_t i = 0; i < end.tensors.size(); ++i) {
            INFO(end.tensors[i].name);
            CHECK(end.tensors[i].name == other.tensors[i].name);
            CHECK(end.tensors[i].array.bytes == other.tensors[i].array.bytes);
        }
    }
}

TEST_CASE("a checkpoint holds what every optimizer keeps, and a rewound step is the same step") {
    for (const std::string rule : {"sgd", "adam", "adamw", "lars", "larc", "novograd"}) {
        INFO(rule);
        Trainer trainer({.batch = 8, .learning_rate = 0.01, .optimizer = rule, .momentum = rule == "sgd" ? 0.9 : -1});
        trainer.step();
        const Checkpoint before = trainer.checkpoint();
        CHECK(before.tensors.size() > 4);
        const double loss = trainer.step().loss;
        const double next = trainer.step().loss;
        trainer.restore(before);
        CHECK(trainer.step().loss == loss);
        CHECK(trainer.step().loss == next);
    }
}

TEST_CASE("a run goes on only from a checkpoint of its own kind") {
    const TrainerOptions options{.batch = 8, .optimizer = "adam"};
    Trainer trainer(options);
    trainer.step();
    const Checkpoint good = trainer.checkpoint();
    const auto refuses = [&](const std::string& part, auto change) {
        Checkpoint bad = good;
        change(bad);
        return fails_with(part, [&] { trainer.restore(bad); });
    };
    CHECK(refuses("a run with model 'mlp512', not 'mlp'", [](Checkpoint& c) { c.model = "mlp512"; }));
    CHECK(refuses("a run with seed '2', not '1'", [](Checkpoint& c) { c.seed = 2; }));
    CHECK(refuses("a run with batch '16', not '8'", [](Checkpoint& c) { c.options["batch"] = "16"; }));
    CHECK(refuses("a run with optimizer 'sgd', not 'adam'", [](Checkpoint& c) { c.options["optimizer"] = "sgd"; }));
    CHECK(refuses("the file has no fc2.bias", [](Checkpoint& c) { c.tensors[3].name = "fc3.bias"; }));
    CHECK(refuses("the file has no optimizer.fc1.weight.exp_avg", [](Checkpoint& c) {
        std::erase_if(c.tensors, [](const auto& t) { return t.name.ends_with("exp_avg"); });
    }));
    CHECK(refuses("fc1.weight is f32 [128, 784] here, but f32 [784, 128] in the file", [](Checkpoint& c) {
        c.tensors[0].array.shape = {784, 128};
    }));
    CHECK(refuses("there is no step -1", [](Checkpoint& c) { c.step = -1; }));
    TrainerOptions taken;
    Checkpoint odd = good;
    odd.options["lr"] = "nan";
    CHECK(fails_with("the checkpoint's option lr cannot be 'nan'", [&] { take_options(taken, odd); }));
    odd.options["lr"] = "1e400";
    CHECK(fails_with("the checkpoint's option lr cannot be '1e400'", [&] { take_options(taken, odd); }));
    for (const NamedArray& row : trainer.checkpoint().tensors) CHECK(row.array.bytes == find(good.tensors, row.name)->bytes);
    CHECK(trainer.next_step() == 1);
}

TEST_CASE("a new checkpoint takes the place of the old one and leaves nothing of it") {
    const Scratch scratch("replace");
    for (int64_t step : {1, 2, 2, 3}) {
        save_checkpoint(scratch.folder, sample(step));
        CHECK(load_checkpoint(scratch.folder).value().step == step);
        CHECK(files_in(scratch.folder) == 2);
    }
    write_file(scratch.folder / "notes.txt", "mine");
    save_checkpoint(scratch.folder, sample(4));
    CHECK(files_in(scratch.folder) == 3);
}

TEST_CASE("a full disk loses no earlier checkpoint, whichever file does not fit") {
    const Scratch scratch("full");
    save_checkpoint(scratch.folder, sample(1));
    {
        const SmallDisk disk(3000);  // the tensors do not fit
        CHECK(fails_with("cannot be written: File too large; the checkpoint of step 1 that is there is untouched",
                         [&] { save_checkpoint(scratch.folder, sample(2)); }));
    }
    CHECK(load_checkpoint(scratch.folder).value().step == 1);
    CHECK(files_in(scratch.folder) == 2);
    {
        const SmallDisk disk(3000);  // the tensors fit, the json does not
        Checkpoint large = sample(3, 10);
        large.state["log"] = std::string(5000, 'x');
        CHECK(fails_with("checkpoint.json: error: the file cannot be written: File too large",
                         [&] { save_checkpoint(scratch.folder, large); }));
    }
    CHECK(load_checkpoint(scratch.folder).value().step == 1);
    CHECK(load_checkpoint(scratch.folder).value().tensors[0].array.bytes == sample(1).tensors[0].array.bytes);
    CHECK(files_in(scratch.folder) == 2);
    save_checkpoint(scratch.folder, sample(4));
    CHECK(load_checkpoint(scratch.folder).value().step == 4);
}

TEST_CASE("a process killed while it saves leaves a whole checkpoint") {
    const Scratch scratch("killed");
    save_checkpoint(scratch.folder, sample(1, 20000));
    Rng rng(5);
    int64_t step = 1;
    for (int round = 0; round < 15 || (step == 1 && round < 300); ++round) {  // a busy machine saves nothing in most
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            for (int64_t next = step + 1;; ++next) save_checkpoint(scratch.folder, sample(next, 20000));
        }
        ::usleep(useconds_t(2000 + rng.below(20000)));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const auto found = load_checkpoint(scratch.folder);
        REQUIRE(found.ok());
        CHECK(found.value().step >= step);
        CHECK(found.value().tensors[0].array.bytes == sample(found.value().step, 20000).tensors[0].array.bytes);
        step = found.value().step;
    }
    CHECK(step > 1);
    save_checkpoint(scratch.folder, sample(step + 1));
    CHECK(files_in(scratch.folder) == 2);  // what the killed ones left is gone
}

TEST_CASE("a cut, changed or hostile checkpoint is refused with the byte and the reason") {
    const Scratch scratch("hostile");
    CHECK(refused(load_checkpoint(scratch.folder / "nowhere"), "no such file"));
    save_checkpoint(scratch.folder, sample(7, 20));
    const std::string head = read_file(scratch.folder / "checkpoint.json").value();
    const std::string file = parse_checkpoint_head(head, "checkpoint.json").value().file;
    const std::string tensors = read_file(scratch.folder / file).value();
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = head;
        REQUIRE(changed.find(from) != std::string::npos);
        return parse_checkpoint_head(changed.replace(changed.find(from), from.size(), to), "checkpoint.json");
    };
    for (size_t keep = 0; keep + 2 < head.size(); ++keep) CHECK(!parse_checkpoint_head(head.substr(0, keep), "c").ok());
    CHECK(refused(parse_checkpoint_head(head.substr(0, 30), "checkpoint.json"), "checkpoint.json: error: at byte "));
    CHECK(refused(parse_checkpoint_head("7", "c"), "at byte 0: not a readable checkpoint: it is not a JSON object"));
    CHECK(refused(parse_checkpoint_head("[1e999]", "c"), "it holds a number"));
    CHECK(refused(parse_checkpoint_head(std::string(1 << 20, '['), "c"), "it is not JSON from here on"));
    CHECK(refused(parse_checkpoint_head(std::string((1 << 20) + 1, ' '), "c"), "it is larger than 1 MiB"));
    CHECK(refused(with("checkpoint 1", "checkpoint 9"), "its format is not 'lockstep checkpoint 1'"));
    CHECK(refused(with("\"step\": 7", "\"step\": -7"), "its step is not a whole number"));
    CHECK(refused(with("\"18446744073709551615\"", "18446744073709551615"), "its seed is not a number in quotation marks"));
    CHECK(refused(with("\"18446744073709551615\"", "\"18446744073709551616\""), "its seed is not a number"));
    CHECK(refused(with("\"64\"", "64"), "'batch' of its options is not a text"));
    CHECK(refused(with(file, "../" + file), "no name of the form step-N-HASH.safetensors"));
    CHECK(refused(with("\"fnv1a64\": \"", "\"fnv1a64\": \"x"), "no hexadecimal number"));

    const auto tensors_refused = [&](const std::string& bytes, const std::string& part) {
        write_file(scratch.folder / file, bytes);
        return refused(load_checkpoint(scratch.folder), part);
    };
    CHECK(tensors_refused(tensors.substr(0, 100),
                          fmt::format("at byte 100: it has 100 bytes, but checkpoint.json says {}", tensors.size())));
    std::string changed = tensors;
    changed.back() = char(changed.back() ^ 1);
    CHECK(tensors_refused(changed, "its bytes are not those that checkpoint.json was written for"));
    std::filesystem::remove(scratch.folder / file);
    CHECK(refused(load_checkpoint(scratch.folder), "no such file"));
}

TEST_CASE("a durable write says which step failed and why") {
    const Scratch scratch("durable");
    write_durably(scratch.folder / "a" / "b.txt", "one");
    write_durably(scratch.folder / "a" / "b.txt", "two");
    CHECK(read_file(scratch.folder / "a" / "b.txt").value() == "two");
    CHECK(files_in(scratch.folder / "a") == 1);
    std::filesystem::create_directories(scratch.folder / "folder" / "full");
    CHECK(fails_with("cannot be put in its place: Is a directory", [&] { write_durably(scratch.folder / "folder", "x"); }));
    CHECK(fails_with("cannot be made: Not a directory", [&] { write_durably(scratch.folder / "a" / "b.txt" / "c", "x"); }));
    CHECK(files_in(scratch.folder) == 2);
}

TEST_CASE("a model's parameters and buffers come back to the bit, in every floating type") {
    const Scratch scratch("parameters");
    for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        const auto device = device::open_device("host", {}).value();
        tensor::Heap heap(*device);
        const auto fill = [&](ParameterList& list, uint64_t seed) {
            Rng rng(seed);
            Build build{heap, rng, list, type};
            build.parameter("fc1.weight", {3, 5}, Init::fan_in(5));
            build.parameter("fc1.bias", {3}, Init::normal(1));
            build.buffer("bn.running_mean", {3}, double(seed));
        };
        ParameterList first, second;
        fill(first, 1);
        fill(second, 2);
        const NamedArrays kept = arrays_of(heap, first);
        REQUIRE(kept.size() == 3);
        CHECK(kept[0].array.bytes.size() == 15 * size_of(type));
        CHECK(kept[0].array.bytes != arrays_of(heap, second)[0].array.bytes);
        Checkpoint checkpoint{.model = "m", .tensors = kept};
        save_checkpoint(scratch.folder, checkpoint);
        restore(heap, second, load_checkpoint(scratch.folder).value().tensors);
        const NamedArrays back = arrays_of(heap, second);
        for (size_t i = 0; i < 3; ++i) {
            CHECK(back[i].name == kept[i].name);
            CHECK(back[i].array.dtype == type);
            CHECK(back[i].array.bytes == kept[i].array.bytes);
        }
        CHECK(tensor::values_of(heap, second.buffers()[0].value) == std::vector<double>{1, 1, 1});

        NamedArrays wrong = kept;
        wrong[0].array.shape = {5, 3};
        CHECK(fails_with(fmt::format("fc1.weight is {0} [3, 5] here, but {0} [5, 3] in the file", name_of(type)),
                         [&] { restore(heap, second, wrong); }));
        wrong = kept;
        wrong[1].name = "fc1.bais";
        CHECK(fails_with("the file has no fc1.bias, only fc1.bais", [&] { restore(heap, second, wrong); }));
        wrong = kept;
        wrong[1].array.dtype = DType::u8;
        CHECK(fails_with("but u8 [3] in the file", [&] { restore(heap, second, wrong); }));
    }
}

}  // namespace nn_data_checkpoint_test
