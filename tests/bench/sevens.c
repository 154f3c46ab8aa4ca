/* 排七 sevens, 4 seats, random players: the same deals, generator and choices as the kernel, in plain C.
 *
 * usage: sevens GAMES SEED     prints: seconds, sum of turns, wins of the first player
 * build: gcc -O3 -march=native -o sevens sevens.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SEATS 4
#define LANE 14
static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u;
enum { DEAL, CHANCE, SEAT };

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static uint64_t game_key(uint64_t seed, uint64_t deal, uint64_t replay) {
    uint64_t key = mix(seed + GOLDEN);
    key = mix((key ^ deal) + GOLDEN);
    return mix((key ^ replay) + GOLDEN);
}

typedef struct { uint64_t s0, s1; } Stream;

static void start_stream(Stream *rng, uint64_t key, uint64_t stream) {
    uint64_t x = mix((key ^ stream) + GOLDEN);
    rng[stream].s0 = mix(x + GOLDEN);
    rng[stream].s1 = mix(x + GOLDEN + GOLDEN);
}

static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static uint64_t next(Stream *r) {
    uint64_t s0 = r->s0, s1 = r->s1, x = rotl(s0 + s1, 17) + s0;
    s1 ^= s0;
    r->s0 = rotl(s0, 49) ^ s1 ^ (s1 << 21);
    r->s1 = rotl(s1, 28);
    return x;
}

static int below(Stream *r, uint64_t n) {
    uint64_t product = (next(r) >> 32) * n;
    if ((uint32_t)product < n) {
        uint64_t threshold = (UINT64_C(1) << 32) % n;
        while ((uint32_t)product < threshold) product = (next(r) >> 32) * n;
    }
    return (int)(product >> 32);
}

static uint64_t nth_bit(uint64_t mask, int n) {
    while (n--) mask &= mask - 1;
    return mask & -mask;
}

int main(int argc, char **argv) {
    long games = argc > 1 ? atol(argv[1]) : 1000000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], 0, 10) : 1;
    uint64_t cards = 0, sevens = 0;
    uint8_t fresh[52], deck[52];
    for (int suit = 0; suit < 4; suit++) {
        sevens |= UINT64_C(1) << (LANE * suit + 6);
        for (int rank = 0; rank < 13; rank++) {
            fresh[13 * suit + rank] = LANE * suit + rank;
            cards |= UINT64_C(1) << (LANE * suit + rank);
        }
    }
    const uint64_t start = UINT64_C(1) << (LANE * 2 + 6); /* D7 */
    long turns = 0, first_wins = 0;
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (long game = 0; game < games; game++) {
        Stream rng[SEAT + SEATS];
        uint64_t key = game_key(seed, game, 0), hand[SEATS] = {0}, table;
        start_stream(rng, key, DEAL);
        for (int p = 0; p < SEATS; p++) start_stream(rng, key, SEAT + p);
        for (int i = 0; i < 52; i++) deck[i] = fresh[i];
        for (int i = 51; i > 0; i--) {
            int j = below(&rng[DEAL], i + 1);
            uint8_t card = deck[i];
            deck[i] = deck[j];
            deck[j] = card;
        }
        for (int i = 0; i < 52; i++) hand[i % SEATS] |= UINT64_C(1) << deck[i];
        int first = 0;
        while (!(hand[first] & start)) first++;
        hand[first] ^= start;
        table = start;
        turns++;
        for (int seat = first;;) {
            seat = (seat + 1) % SEATS;
            turns++;
            uint64_t legal = hand[seat] & (((table << 1 | table >> 1) & cards & ~table) | (sevens & ~table));
            if (!legal) continue;
            int n = __builtin_popcountll(legal);
            uint64_t card = nth_bit(legal, n > 1 ? below(&rng[SEAT + seat], n) : 0);
            hand[seat] ^= card;
            table |= card;
            if (!hand[seat]) {
                first_wins += seat == first;
                break;
            }
        }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    printf("%.6f %ld %ld\n", (to.tv_sec - from.tv_sec) + 1e-9 * (to.tv_nsec - from.tv_nsec), turns, first_wins);
    return 0;
}
