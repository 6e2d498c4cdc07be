// The grammar of the stories: lists of words, then one function a kind of phrase. Every choice is one of n equally likely
// ones and adds log n to `nats`, so the text's own entropy is known.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/base/rng.h"
#include "core/nn/data/text.h"

namespace lockstep::nn {

namespace {
struct Words {
    std::vector<std::string> list;
    explicit Words(std::string_view text) {
        for (size_t at = 0; at <= text.size();) {
            const size_t end = std::min(text.find(' ', at), text.size());
            list.emplace_back(text.substr(at, end - at));
            at = end + 1;
        }
    }
};

struct Lexicon {
    const Words women{
        "Mara Ines Tilda Joan Priya Olga Wren Hazel Lucia Edith Noor Beth Yuki Clara Dora Fatima Greta Vera Amina Ruth "
        "Sigrid Pearl Zora Kamala Oda Winifred Esme Judith Xenia Lakshmi"};
    const Words men{
        "Tomas Karl Hugo Abel Finn Omar Jonas Pavel Samuel Viktor Ivan Leo Rafael Bruno Quentin Dexter Ezra Felix George "
        "Arthur Kofi Rupert Hiroshi Magnus Edgar Yusuf Walter Lars Ignatius Bjorn"};
    const Words people{
        "baker captain doctor fisherman teacher miller stranger judge gardener merchant shepherd blacksmith widow soldier "
        "carpenter neighbour watchmaker violinist ferryman shopkeeper poet thief bishop piper weaver clerk hunter nurse "
        "sailor cook tanner brewer potter mayor juggler printer mason grocer porter student"};
    const Words things{
        "lamp key letter map coin clock basket violin mirror blanket ring compass book knife candle horse hammer spoon "
        "net umbrella bicycle sword loaf cheese bottle photograph lantern drum glove telescope kettle ladder chair window "
        "saddle button feather pebble whistle ribbon shovel barrel anchor pillow trumpet needle thimble jacket apron "
        "pocket wheel rope bucket broom brush pencil diary ticket suitcase cushion teapot saucer goblet crown dagger "
        "shield helmet arrow flute harp puppet kite marble acorn turnip pumpkin onion walnut apple plum herring goose "
        "rabbit donkey hedgehog sparrow owl fox kitten puppy beetle oyster sail oar hook cradle quilt scarf boot slipper "
        "necklace brooch locket vase jug plank nail hinge lock drawer shelf stove oven sieve funnel pepper biscuit "
        "pancake pie cake bench fiddle bell globe magnet prism lens magnifier typewriter ledger envelope stamp parcel "
        "bundle cloak hat wig mask costume statue painting sketch carpet curtain chandelier"};
    const Words adjectives{
        "small broken golden heavy strange rusty beautiful ancient yellow plain cracked expensive dusty green smooth "
        "forgotten crooked shining ordinary purple curious borrowed polished faded huge tiny narrow wet warm cold empty "
        "wooden silver iron painted hollow sharp blunt soft bitter fragile sturdy elegant ugly clumsy familiar useless "
        "precious foreign magic noisy silent sticky frozen burning floating hidden folded twisted spotted striped velvet "
        "copper marble greasy hairy round square thick thin bright dark pale royal humble jolly peculiar valuable "
        "weathered queer exotic rough tangled muddy fresh stale bent loose tight"};
    const Words places{
        "mill river market harbour bridge library valley workshop gate church station well lake orchard lighthouse "
        "kitchen castle forest theatre school hospital mountain cellar garden shop tavern island cottage meadow quarry "
        "tower palace prison attic stable barn chapel cemetery village town beach cave swamp desert canal dock factory "
        "mine museum bakery inn courtyard balcony tunnel cliff waterfall vineyard farm pier square ballroom observatory "
        "greenhouse"};
    const Words past{
        "found bought borrowed discovered repaired carried hid noticed stole received lost sold painted washed opened "
        "examined kept dropped wrapped wanted broke polished touched lifted admired buried measured weighed chased "
        "followed watched drew described threw caught pushed pulled shook burned mended cleaned traded fetched guarded "
        "forgot remembered ignored praised cursed loved hated needed swapped dragged kicked grabbed offered inspected "
        "copied"};
    const Words moves{
        "walked ran went returned rode hurried came wandered travelled crept climbed sailed drifted marched limped "
        "galloped skipped rushed moved crawled"};
    const Words stays{
        "waited slept sat stopped sang worked wept danced stood rested laughed prayed shivered dreamed argued whistled"};
    const Words adverbs{
        "slowly quickly quietly gladly carefully suddenly gently rudely proudly sadly secretly bravely often never always "
        "eagerly calmly foolishly politely again alone together early late nervously cheerfully clumsily almost barely "
        "twice"};
    const Words feelings{
        "happy angry tired afraid proud surprised hungry grateful jealous lonely cheerful worried calm puzzled sorry "
        "thirsty sick lucky rich poor famous bored excited ashamed furious curious sleepy hopeful nervous guilty"};
    const Words speech{"said asked answered whispered shouted replied cried murmured muttered sighed laughed explained"};
    const Words materials{
        "bread honey silk wool butter ink salt flour milk wine tea coffee sugar oil straw paper leather glass gold silver "
        "wax rice pepper cider"};
    const Words weather{"rain snow wind fog thunder frost sunshine moonlight hail dust smoke heat"};
    const Words seasons{
        "winter spring summer autumn January March April June August October December Monday Tuesday Friday Saturday "
        "Sunday"};
    const Words kin{
        "uncle aunt mother father sister brother cousin grandmother nephew daughter son wife husband friend master "
        "servant"};
    const Words syllables{
        "bar ken dal wick ford mor hul tan ber ros ing ley ham ston field gar nor vel quin zel pod tre sul ax fen cro mel "
        "dun kirk by"};
    const Words numbers{
        "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety "
        "hundred"};
    const Words minor{"very rather quite hardly truly merely utterly nearly"};
    const Words joints{"under over behind beside near inside above against without beyond through across around below"};
};

const Lexicon& lexicon() {
    static const Lexicon words;
    return words;
}

std::string capital(std::string word) {
    if (word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
}

std::string with_article(const std::string& words) {
    const bool vowel = std::string("aeiou").find(words[0]) != std::string::npos && !words.starts_with("use");
    return (vowel ? "an " : "a ") + words;
}

std::string plural(const std::string& word) {
    const auto stem = [&](size_t without) { return word.substr(0, word.size() - without); };
    if (word.ends_with("s") || word.ends_with("x") || word.ends_with("ch") || word.ends_with("sh")) return word + "es";
    if (word.ends_with("y") && std::string("aeiou").find(word[word.size() - 2]) == std::string::npos) return stem(1) + "ies";
    if (word.ends_with("fe")) return stem(2) + "ves";
    if (word == "loaf" || word == "shelf" || word == "scarf") return stem(1) + "ves";
    return word + "s";
}

// In a list in braces the choices are made from left to right; on the sides of a + each compiler has its own order.
std::string say(std::initializer_list<std::string_view> pieces) {
    std::string text;
    for (const std::string_view piece : pieces) text += piece;
    return text;
}

struct Storyteller {
    const Lexicon& w = lexicon();
    Rng rng;
    double nats = 0;
    std::string name, he, his, him, other, thing_found;

    size_t one_of(size_t n) {
        nats += std::log(static_cast<double>(n));
        return rng.below(n);
    }
    const std::string& of(const Words& words) { return words.list[one_of(words.list.size())]; }

    std::string town() {
        std::string text;
        for (size_t n = one_of(3) == 2 ? 3 : 2; n > 0; --n) text += of(w.syllables);
        return capital(text);
    }
    std::string place() {
        switch (one_of(4)) {
            case 0:
                return say({"the ", of(w.adjectives), " ", of(w.places)});
            case 1:
                return say({his, " ", of(w.kin), "'s ", of(w.places)});
            case 2:
                return say({town(), " ", capital(of(w.places))});
            default:
                return town();
        }
    }
    std::string amount() { return one_of(2) ? of(w.numbers) : std::to_string(2 + one_of(98)); }
    std::string thing() {
        switch (one_of(6)) {
            case 0:
                return with_article(say({of(w.adjectives), " ", of(w.things)}));
            case 1:
                return say({of(w.adjectives), " ", plural(of(w.things))});
            case 2:
                return say({of(w.minor), " ", of(w.adjectives), " ", of(w.materials)});
            case 3:
                return say({other, "'s ", of(w.things)});
            case 4:
                return say({amount(), " ", plural(of(w.things))});
            default:
                return of(w.materials);
        }
    }
    std::string go() {
        switch (one_of(3)) {
            case 0:
                return say({of(w.moves), " to ", place()});
            case 1:
                return say({of(w.stays), " ", of(w.joints), " ", thing()});
            default:
                return say({of(w.moves), " ", of(w.adverbs), " ", of(w.joints), " ", place()});
        }
    }
    std::string when() {
        switch (one_of(6)) {
            case 0:
                return say({"In ", of(w.seasons)});
            case 1:
                return say({"After ", of(w.weather), " and ", of(w.weather)});
            case 2:
                return say({"At ", std::to_string(1 + one_of(12)), " o'clock"});
            case 3:
                return "One morning";
            case 4:
                return capital(of(w.adverbs));
            default:
                return say({"Every ", of(w.seasons)});
        }
    }
    std::string speech() {
        switch (one_of(5)) {
            case 0:
                return say({"\"I ", of(w.past), " ", thing(), ",\" ", of(w.speech), " ", name, "."});
            case 1:
                return say({"\"Where is ", other, "'s ", thing_found, "?\" ", of(w.speech), " ", his, " ", of(w.kin),
                            ". \"My ", of(w.kin), " ", of(w.past), " it,\" ", of(w.speech), " ", name, "."});
            case 2:
                return say({"\"", capital(plural(of(w.people))), " ", of(w.adverbs), " feel ", of(w.feelings), "!\" ",
                            of(w.speech), " ", his, " ", of(w.kin), "."});
            case 3:
                return say({"\"Who ", of(w.past), " ", thing(), "?\" ", of(w.speech), " ", other, "."});
            default:
                return say({"\"", capital(of(w.adverbs)), ", ", of(w.kin), ",\" ", of(w.speech), " ", other, ", \"before ",
                            of(w.weather), " comes.\""});
        }
    }
    std::string sentence(size_t kind) {
        switch (kind) {
            case 0:
                return say({capital(he), " ", of(w.past), " ", thing(), ", ", thing(), " and ", thing(), "."});
            case 1:
                return say(
                    {other, " ", of(w.adverbs), " ", of(w.past), " the ", thing_found, ", so ", name, " ", go(), "."});
            case 2:
                return say({capital(he), " showed ", his, " ", thing_found, " to ", other, ", who ", of(w.past), " it ",
                            of(w.adverbs), "."});
            case 3:
                return say(
                    {name, " felt ", of(w.minor), " ", of(w.feelings), ", but ", other, " looked ", of(w.feelings), "."});
            case 4:
                return say({when(), " ", he, " ", go(), " with ", his, " ", of(w.kin), "."});
            case 5:
                return say({other, " gave ", him, " ", thing(), " for the ", thing_found, "."});
            case 6:
                return say({capital(of(w.weather)), " made ", him, " ", of(w.feelings), "."});
            case 7:
                return say({capital(he), " ", go(), ", ", of(w.past), " ", thing(), " and ", of(w.past), " ", thing(), "."});
            default:
                return speech();
        }
    }
    std::string story() {
        const bool woman = one_of(2) == 0;
        name = of(woman ? w.women : w.men);
        he = woman ? "she" : "he";
        his = woman ? "her" : "his";
        him = woman ? "her" : "him";
        other = of(one_of(2) ? w.men : w.women);
        thing_found = of(w.things);
        const std::string& kind = of(w.adjectives);
        std::string text = say({when(), " ", name, " ", town(), " ", go(), ". "});
        text += say({capital(he), " ", of(w.past), " ", with_article(say({kind, " ", thing_found})), "."});
        std::vector<size_t> kinds = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
        for (size_t n = 2 + one_of(3); n > 0; --n) {
            const size_t at = one_of(kinds.size());
            text += say({" ", sentence(kinds[at])});
            kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(at));
        }
        if (one_of(2))
            text += say({" ", capital(he), " ", of(w.past), " the ", kind, " ", thing_found, " ", of(w.adverbs), "."});
        return say({text, "\n"});
    }
};

std::string tell(uint64_t seed, int64_t characters, double& nats) {
    Storyteller teller{.rng = Rng(Rng(seed).next())};
    std::string text;
    while (static_cast<int64_t>(text.size()) < characters) text += teller.story();
    nats = text.empty() ? 0 : teller.nats / static_cast<double>(text.size());
    return text;
}
}  // namespace

TextSet stories(uint64_t seed, int64_t characters, int64_t held_out) {
    constexpr uint64_t held_out_key = 0x6f75742d68656c64;  // no seed that anybody types
    constexpr int64_t most = int64_t{1} << 28;
    if (characters < 1 || characters > most || held_out < 1 || held_out > most)
        throw Failure("stories of 1 to 2^28 characters can be told");
    double ignored = 0, nats = 0;
    const std::string train = tell(seed, characters, ignored), test = tell(held_out_key, held_out, nats);
    TextSet set{.name = "stories", .source_nats = nats};
    set.vocabulary =
        vocabulary_of("\n !\"',.0123456789?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "stories").value();
    set.train = set.vocabulary.encode(train).value();
    set.held_out = set.vocabulary.encode(test).value();
    return set;
}

}  // namespace lockstep::nn
