/*
 * rng.c: random numbers from one word of state, kept where the model wants it (cw.h).
 *
 * The generator is splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014): one addition moves the state, so a stream costs 8 bytes of undo. Streams
 * start at well-mixed points of its one cycle of 2^64, so that two of them overlap within 2^32
 * draws with a probability of about 2^-31.
 *
 * The exponential is -ln(u) in fixed point: the leading zeros of u give the power of two, seven
 * bits pick a reciprocal and a logarithm from the table, a polynomial of degree 4 does the rest.
 * The absolute error is below 2^-41 of the mean. Only integers are used, so every machine draws
 * the same; a ziggurat would be faster by a nanosecond but takes a varying number of draws.
 */
#include "core/cw.h"

static const uint64_t golden = 0x9e3779b97f4a7c15;

static uint64_t rng_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

struct cw_rng cw_rng_seeded(uint64_t seed, uint64_t entity)
{
    return (struct cw_rng){.s =
                               rng_mix(rng_mix(seed + golden) ^ (entity * 0xd1342543de82ef95 + 1))};
}

uint64_t cw_rng_u64(struct cw_rng *rng)
{
    rng->s += golden;
    return rng_mix(rng->s);
}

uint32_t cw_rng_below(struct cw_rng *rng, uint32_t bound)
{
    return (uint32_t)((unsigned __int128)cw_rng_u64(rng) * bound >> 64);
}

bool cw_rng_chance(struct cw_rng *rng, uint64_t p32) { return cw_rng_u64(rng) >> 32 < p32; }

/*
 * For m in [1 + i/128, 1 + (i+1)/128): the reciprocal of the interval's centre, times 2^64, and
 * minus the logarithm of that reciprocal, times 2^57.
 */
static const struct {
    uint64_t reciprocal;
    int64_t log;
} logs[128] = {
    {0xff00ff00ff00ff01, 0x0001ff00aa2b10bc}, {0xfd08e5500fd08e55, 0x0005f711d7e0429e},
    {0xfb18856506ddaba6, 0x0009e75221a352ba}, {0xf92fb2211855a865, 0x000dcfe013d7c8cc},
    {0xf74e3fc22c700f75, 0x0011b0d98923d980}, {0xf57403d5d00f5740, 0x00158a5bafc8e4d5},
    {0xf3a0d52cba872336, 0x00195c830ec8e3eb}, {0xf1d48bcee0d399fa, 0x001d276b8adb0b52},
    {0xf00f00f00f00f00f, 0x0020eb306b31c8e2}, {0xee500ee500ee500f, 0x0024a7ec5e14282e},
    {0xec979118f3fc4da2, 0x00285db97d4c8de0}, {0xeae56403ab95900f, 0x002c0cb1526ea187},
    {0xe939651fe2d8d35c, 0x002fb4ecdaf62599}, {0xe79372e225fe30d9, 0x003356848c40675a},
    {0xe5f36cb00e5f36cb, 0x0036f1905761db42}, {0xe45932d7dc52100e, 0x003a8627acd966bb},
    {0xe2c4a6886a4c2e10, 0x003e14618022c54d}, {0xe135a9c97500e136, 0x00419c544b2965b9},
    {0xdfac1f74346c575f, 0x00451e16119d0ab2}, {0xde27eb2c41f3d9d1, 0x004899bc64296b2e},
    {0xdca8f158c7f91ab8, 0x004c0f5c6391ff4c}, {0xdb2f171df7702919, 0x004f7f0ac3b318a7},
    {0xd9ba4256c0366e91, 0x0052e8dbce695795}, {0xd84a598ec9151f43, 0x00564ce366608217},
    {0xd6df43fca482f00d, 0x0059ab3509cab543}, {0xd578e97c3f5fe551, 0x005d03e3d500de93},
    {0xd4173289870ac52e, 0x00605702850d5fab}, {0xd2ba083b445250ab, 0x0063a4a37a21b503},
    {0xd161543e28e50274, 0x0066ecd8b9f7ee0d}, {0xd00d00d00d00d00d, 0x006a2fb3f220bc63},
    {0xcebcf8bb5b4169cb, 0x006d6d467a3ed692}, {0xcd712752a886d242, 0x0070a5a156306303},
    {0xcc29786c7607f99f, 0x0073d8d538271771}, {0xcae5d85f1bbd6c95, 0x007706f282afb1f6},
    {0xc9a633fcd967300d, 0x007a30094aa96980}, {0xc86a78900c86a789, 0x007d5429592decdc},
    {0xc73293d789b9f838, 0x008073622d6a80e6}, {0xc5fe740317f9d00c, 0x00838dc2fe6ac869},
    {0xc4ce07b00c4ce07b, 0x0086a35abcd5ba59}, {0xc3a13de60495c773, 0x0089b438149d4583},
    {0xc2780613c0309e02, 0x008cc0696ea11b7b}, {0xc152500c152500c1, 0x008fc7fcf2451794},
    {0xc0300c0300c0300c, 0x0092cb0086fbb1cf}, {0xbf112a8ad278e8dd, 0x0095c981d5c4e925},
    {0xbdf59c91700bdf5a, 0x0098c38e4aa20c28}, {0xbcdd535db1cc5b7b, 0x009bb93315fec2d8},
    {0xbbc8408cd63069a1, 0x009eaa7d2e0fb87c}, {0xbab656100bab6561, 0x00a197795027409e},
    {0xb9a7862a0ff46588, 0x00a4803402004e86}, {0xb89bc36ce3e0453a, 0x00a764b99300134d},
    {0xb79300b79300b793, 0x00aa45161d6e9316}, {0xb68d31340e4307d8, 0x00ad215587a67f0d},
    {0xb58a485518d1e7e4, 0x00aff983853c9e9e}, {0xb48a39d44685fe97, 0x00b2cdab981f0f94},
    {0xb38cf9b00b38cf9b, 0x00b59dd911aca1ec}, {0xb2927c29da5519cf, 0x00b86a1713c491af},
    {0xb19ab5c45606f00b, 0x00bb327091cede76}, {0xb0a59b418d749d53, 0x00bdf6f051bd7dfd},
    {0xafb321a1496fdf0e, 0x00c0b7a0ed06a4ae}, {0xaec33e1f671529a5, 0x00c3748cd1985d00},
    {0xadd5e6323fd48a86, 0x00c62dbe42c5a454}, {0xaceb0f891e6551bb, 0x00c8e33f5a2d41ec},
    {0xac02b00ac02b00ac, 0x00cb951a089a8ac3}, {0xab1cbdd3e2970f60, 0x00ce435816e04315},
    {0xaa392f35dc17f00b, 0x00d0ee0326adccab}, {0xa957fab5402a55ff, 0x00d39524b35ecf51},
    {0xa87917088e262b6f, 0x00d638c612c58720}, {0xa79c7b16ea64d422, 0x00d8d8f075efe2db},
    {0xa6c21df6e1625c80, 0x00db75ace9e79aed}, {0xa5e9f6ed347f0721, 0x00de0f04586d6852},
    {0xa513fd6bb00a5140, 0x00e0a4ff88af8135}, {0xa44029100a440291, 0x00e337a71ffb7fbf},
    {0xa36e71a2cb033128, 0x00e5c703a26bd650}, {0xa29ecf163bb6500a, 0x00e8531d7390f321},
    {0xa1d139855f7268ee, 0x00eadbfcd716341e}, {0xa105a932f2ca891f, 0x00ed61a9f162caa1},
    {0xa03c1688732b3032, 0x00efe42cc836adaa}, {0x9f747a152d7836d0, 0x00f2638d4343b821},
    {0x9eaecc8d53ae2ddf, 0x00f4dfd32cc30fab}, {0x9deb06c9194aa416, 0x00f759063206efa2},
    {0x9d2921c3d6411308, 0x00f9cf2de408f2de}, {0x9c69169b30446dfa, 0x00fc4251b7f4f611},
    {0x9baade8e4a2f6e10, 0x00feb27907b0ab8e}, {0x9aee72fcf957c10f, 0x01011fab125ff8a2},
    {0x9a33cd67009a33cd, 0x010389eefce633b4}, {0x997ae76b50efd00a, 0x0105f14bd26459c1},
    {0x98c3bac74f5db00a, 0x010855c884b450e6}, {0x980e4156201301c8, 0x010ab76bece14d1c},
    {0x975a750ff68a58af, 0x010d163ccb9d6b7e}, {0x96a850096a850097, 0x010f7241c9b497d5},
    {0x95f7cc72d1b887e9, 0x0111cb81787ccf84}, {0x9548e4979e0829fd, 0x011422025243d44f},
    {0x949b92ddc02526e5, 0x011675cababa60e0}, {0x93efd1c50e726b7c, 0x0118c6e0ff5cf061},
    {0x93459be6b009345a, 0x011b154b57da29ef}, {0x929cebf48bbd90e5, 0x011d610fe6770031},
    {0x91f5bcb8bb02d9cd, 0x011faa34b87094c1}, {0x9150091500915009, 0x0121f0bfc65beebe},
    {0x90abcc0242af3009, 0x012434b6f483933e}, {0x9009009009009009, 0x0126762013430dfd},
    {0x8f67a1e3fdc26178, 0x0128b500df60782b}, {0x8ec7ab397255e41d, 0x012af15f02640ad2},
    {0x8e2917e0e702c6cd, 0x012d2b4012edc9db}, {0x8d8be33f95d71590, 0x012f62a995095463},
    {0x8cf008cf008cf009, 0x013197a0fa7fe6a2}, {0x8c55841c815ed5ca, 0x0133ca2ba328994d},
    {0x8bbc50c8deb420c0, 0x0135fa4edd36ea00}, {0x8b246a87e19008b2, 0x0138280fe58797ec},
    {0x8a8dcd1feeae465c, 0x013a5373e7ebdf99}, {0x89f87469a23920e0, 0x013c7c7fff73205d},
    {0x89645c4f6e055dec, 0x013ea33936b2f5b8}, {0x88d180cd3a4133d7, 0x0140c7a4880dce92},
    {0x883fddf00883fddf, 0x0142e9c6ddf80bf3}, {0x87af6fd5992d0d40, 0x014509a5133bb0a5},
    {0x872032ac13008720, 0x01472743f33aaad3}, {0x869222b1acf1ce96, 0x014942a83a2fc078},
    {0x86053c345a0b8473, 0x014b5bd6956e2739}, {0x85797b917765ab89, 0x014d72d3a39fd004},
    {0x84eedd357c1b0085, 0x014f87a3f5026e88}, {0x84655d9bab2f1008, 0x01519a4c0ba34466},
    {0x83dcf94dc7570ce1, 0x0153aad05b99b7cb}, {0x8355ace3c897db10, 0x0155b9354b40bcd4},
    {0x82cf750393ac3319, 0x0157c57f336f1908}, {0x824a4e60b3262bc5, 0x0159cfb25fae87df},
    {0x81c635bc123fdf8e, 0x015bd7d30e71c732}, {0x814327e3b94f462f, 0x015ddde571499237},
    {0x80c121b28bd1ba98, 0x015fe1edad189189}, {0x8040201008040201, 0x0161e3efda464669},
};

static const int64_t ln2_57 = 0x162e42fefa39ef3;
static const int64_t third_64 = 0x5555555555555555;

static inline int64_t multiply_high(int64_t a, int64_t b)
{
    return (int64_t)((__int128)a * b >> 64);
}

/*
 * -ln((r | 1) / 2^64), times 2^57. A name's number is its binary point: x_57 stands for
 * x_57 / 2^57. The points are chosen so that every product is the upper half of a multiplication.
 */
static inline int64_t minus_log_57(uint64_t r)
{
    r |= 1;
    const int zeros = __builtin_clzll(r);
    const uint64_t m_63 = r << zeros; /* in [1, 2) */
    const uint64_t i = m_63 >> 56 & 127;
    /* m * reciprocal = 1 + t with |t| < 2^-8 */
    const uint64_t product_63 = (uint64_t)((unsigned __int128)m_63 * logs[i].reciprocal >> 64);
    const int64_t t_63 = (int64_t)(product_63 - (1ull << 63));
    const int64_t t_70 = t_63 * 128;
    const int64_t square_76 = multiply_high(t_70, t_70);
    /* ln(1 + t) = t - t^2 * (1/2 - t/3 + t^2/4) */
    const int64_t series_62 =
        (INT64_C(1) << 61) - (multiply_high(t_70, third_64) >> 8) + (square_76 >> 16);
    const int64_t bend_74 = multiply_high(square_76, series_62);
    const int64_t log_57 = logs[i].log + (t_63 >> 6) - (bend_74 >> 17);
    /* Not negative: for u near 1 the missing fifth power makes the logarithm too small by 2^-43. */
    return (zeros + 1) * ln2_57 - log_57;
}

int64_t cw_rng_exp_ps(struct cw_rng *rng, int64_t mean_ps)
{
    const int64_t log_57 = minus_log_57(cw_rng_u64(rng));
    /* The logarithm is below 2^6, so that a mean below 2^56 cannot overflow. */
    if (__builtin_expect((uint64_t)mean_ps < 1ull << 56, 1))
        return multiply_high(log_57, mean_ps * 128);
    if (mean_ps < 0)
        return 0;
    const __int128 product = (__int128)log_57 * mean_ps >> 57;
    return product < CW_TIME_MAX ? (int64_t)product : CW_TIME_MAX;
}
