// Made points: spirals to tell apart, clouds to generate or to find, a line to fit; and points of a CSV file. Like
// pictures, they go on for ever by index, and the test points are the same for every seed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::nn {

struct PointSet {
    std::string name;
    int dimensions = 2, classes = 1;
    int64_t test_count = 0;
    // Writes a point, [dimensions], and returns its class, 0..classes-1.
    std::function<int32_t(uint64_t index, std::span<float> x)> train, test;
    std::vector<float> centres = {};            // [classes, dimensions]; empty where a class has no centre
    double deviation = 0;                       // of a point about its centre, along each axis
    int64_t train_count = 0;                    // points an epoch; 0: they never repeat
    std::vector<std::string> class_names = {};  // empty: the number is the name
};

// The first `count` training points, [count, dimensions], and their classes where asked for: a fixed set, as k-means takes
// it.
std::vector<float> first_points(const PointSet& set, int64_t count, std::vector<int32_t>* classes = nullptr);

// Arms around the origin, three quarters of a turn each, radius 0.1 to 1, with normal noise along both axes.
PointSet spirals(uint64_t seed, int arms = 3, double noise = 0.03);
// Eight clouds on a circle about the origin, each equally likely.
PointSet eight_gaussians(uint64_t seed, double radius = 2, double deviation = 0.1);
// `count` clouds of deviation 1 whose centres lie in a cube of side 12, at least 3 from each other where there is room: some
// touch, so that k-means finds worse ends from unlucky starts. Centres depend on the seed, and so do the test points.
PointSet clusters(uint64_t seed, int count = 10, int dimensions = 2);
// A CSV file with a header: the named column ("": the last) holds the classes (any texts), all others numbers. Every fifth
// row, shuffled by a fixed key, is a test point; the others come reshuffled every epoch. Throws Failure.
PointSet open_points(const std::filesystem::path& csv, const std::string& class_column, uint64_t seed);

struct Coverage {     // of a set's centres by a generator's samples
    int covered = 0;  // centres with at least a quarter of an equal share of the samples near them
    double near = 0;  // share of the samples near one: within three deviations, where 98.9 % of true ones in a plane are
    std::vector<int64_t> count;  // samples near each centre
};
Coverage coverage_of(const PointSet& set, std::span<const float> samples);  // [n, dimensions]; NaN is near nothing

struct LineSet {  // y = w x + b + noise
    std::string name = "line";
    std::vector<float> w;  // [inputs], the truth
    float b = 0;
    double noise = 0;  // deviation of y
    // Writes x, [inputs] in -1 .. 1, and returns y.
    std::function<float(uint64_t index, std::span<float> x)> train;
};
LineSet line(uint64_t seed, int inputs = 1, double noise = 0.02);
// Rows of numbers whose last column is y: a .csv with a header, a .npy of [rows, columns], or a .npz of x, [rows] or
// [rows, inputs], and y, [rows] or [rows, 1]. At most 256 inputs; w and b are those of least squares over all rows, which
// come reshuffled every epoch. Throws Failure, also where the rows do not settle w and b.
LineSet open_line(const std::filesystem::path& file, uint64_t seed);

}  // namespace lockstep::nn
