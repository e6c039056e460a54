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

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

struct cw_rng cw_rng_seeded(uint64_t seed, uint64_t entity)
{
    return (struct cw_rng){.s = mix(mix(seed + golden) ^ (entity * 0xd1342543de82ef95 + 1))};
}

uint64_t cw_rng_u64(struct cw_rng *rng)
{
    rng->s += golden;
    return mix(rng->s);
}

uint32_t cw_rng_below(struct cw_rng *rng, uint32_t bound)
{
    return (uint32_t)((unsigned __int128)cw_rng_u64(rng) * bound >> 64);
}

bool cw_rng_chance(struct cw_rng *rng, uint64_t p32) { return cw_rng_u64(rng) >> 32 < p32; }

/*
 * For m in [1 + i/128, 1 + (i+1)/128): the reciprocal of the interval's centre, times 2^64, and
 * minus the logarithm of that reciprocal, times 2^63.
 */
static const struct {
    uint64_t reciprocal;
    int64_t log;
} logs[128] = {
    {0xff00ff00ff00ff01, 0x007fc02a8ac42f01}, {0xfd08e5500fd08e55, 0x017dc475f810a76e},
    {0xfb18856506ddaba6, 0x0279d48868d4ae9e}, {0xf92fb2211855a865, 0x0373f804f5f23300},
    {0xf74e3fc22c700f75, 0x046c366248f65ff1}, {0xf57403d5d00f5740, 0x056296ebf2393523},
    {0xf3a0d52cba872336, 0x065720c3b238fadf}, {0xf1d48bcee0d399fa, 0x0749dae2b6c2d485},
    {0xf00f00f00f00f00f, 0x083acc1acc723898}, {0xee500ee500ee500f, 0x0929fb17850a0b7c},
    {0xec979118f3fc4da2, 0x0a176e5f5323781e}, {0xeae56403ab95900f, 0x0b032c549ba861d9},
    {0xe939651fe2d8d35c, 0x0bed3b36bd896642}, {0xe79372e225fe30d9, 0x0cd5a1231019d66e},
    {0xe5f36cb00e5f36cb, 0x0dbc6415d876d084}, {0xe45932d7dc52100e, 0x0ea189eb3659aeaf},
    {0xe2c4a6886a4c2e10, 0x0f85186008b15331}, {0xe135a9c97500e136, 0x10671512ca596e2a},
    {0xdfac1f74346c575f, 0x114785846742ac69}, {0xde27eb2c41f3d9d1, 0x12266f190a5acb7d},
    {0xdca8f158c7f91ab8, 0x1303d718e47fd2ff}, {0xdb2f171df7702919, 0x13dfc2b0ecc629ca},
    {0xd9ba4256c0366e91, 0x14ba36f39a55e55a}, {0xd84a598ec9151f43, 0x159338d9982085d3},
    {0xd6df43fca482f00d, 0x166acd4272ad50df}, {0xd578e97c3f5fe551, 0x1740f8f54037a4ca},
    {0xd4173289870ac52e, 0x1815c0a14357ead6}, {0xd2ba083b445250ab, 0x18e928de886d40aa},
    {0xd161543e28e50274, 0x19bb362e7dfb8356}, {0xd00d00d00d00d00d, 0x1a8becfc882f18c3},
    {0xcebcf8bb5b4169cb, 0x1b5b519e8fb5a46e}, {0xcd712752a886d242, 0x1c2968558c18c0a3},
    {0xcc29786c7607f99f, 0x1cf6354e09c5dc49}, {0xcae5d85f1bbd6c95, 0x1dc1bca0abec7d61},
    {0xc9a633fcd967300d, 0x1e8c0252aa5a5fe9}, {0xc86a78900c86a789, 0x1f550a564b7b3707},
    {0xc73293d789b9f838, 0x201cd88b5aa0398d}, {0xc5fe740317f9d00c, 0x20e370bf9ab21a3a},
    {0xc4ce07b00c4ce07b, 0x21a8d6af356e9641}, {0xc3a13de60495c773, 0x226d0e05275160be},
    {0xc2780613c0309e02, 0x23301a5ba846dece}, {0xc152500c152500c1, 0x23f1ff3c9145e51b},
    {0xc0300c0300c0300c, 0x24b2c021beec73de}, {0xbf112a8ad278e8dd, 0x25726075713a493b},
    {0xbdf59c91700bdf5a, 0x2630e392a88309f5}, {0xbcdd535db1cc5b7b, 0x26ee4cc57fb0b5e5},
    {0xbbc8408cd63069a1, 0x27aa9f4b83ee1f0e}, {0xbab656100bab6561, 0x2865de5409d0276b},
    {0xb9a7862a0ff46588, 0x29200d008013a198}, {0xb89bc36ce3e0453a, 0x29d92e64c004d35f},
    {0xb79300b79300b793, 0x2a9145875ba4c5a0}, {0xb68d31340e4307d8, 0x2b485561e99fc339},
    {0xb58a485518d1e7e4, 0x2bfe60e14f27a791}, {0xb48a39d44685fe97, 0x2cb36ae607c3e504},
    {0xb38cf9b00b38cf9b, 0x2d6776446b287b13}, {0xb2927c29da5519cf, 0x2e1a85c4f1246bab},
    {0xb19ab5c45606f00b, 0x2ecc9c2473b79d82}, {0xb0a59b418d749d53, 0x2f7dbc146f5f7f3d},
    {0xafb321a1496fdf0e, 0x302de83b41a92b6c}, {0xaec33e1f671529a5, 0x30dd233466174014},
    {0xadd5e6323fd48a86, 0x318b6f90b1691510}, {0xaceb0f891e6551bb, 0x3238cfd68b507b10},
    {0xac02b00ac02b00ac, 0x32e5468226a2b0d3}, {0xab1cbdd3e2970f60, 0x3390d605b810c537},
    {0xaa392f35dc17f00b, 0x343b80c9ab732ac8}, {0xa957fab5402a55ff, 0x34e5492cd7b3d42d},
    {0xa87917088e262b6f, 0x358e3184b161c818}, {0xa79c7b16ea64d422, 0x36363c1d7bf8b6d2},
    {0xa6c21df6e1625c80, 0x36dd6b3a79e6bb3a}, {0xa5e9f6ed347f0721, 0x3783c1161b5a1485},
    {0xa513fd6bb00a5140, 0x38293fe22be04d5a}, {0xa44029100a440291, 0x38cde9c7fedfefd0},
    {0xa36e71a2cb033128, 0x3971c0e89af593fb}, {0xa29ecf163bb6500a, 0x3a14c75ce43cc84b},
    {0xa1d139855f7268ee, 0x3ab6ff35c58d0796}, {0xa105a932f2ca891f, 0x3b586a7c58b2a846},
    {0xa03c1688732b3032, 0x3bf90b320dab6a81}, {0x9f747a152d7836d0, 0x3c98e350d0ee085a},
    {0x9eaecc8d53ae2ddf, 0x3d37f4cb30c3eac8}, {0x9deb06c9194aa416, 0x3dd6418c81bbe86b},
    {0x9d2921c3d6411308, 0x3e73cb79023cb79a}, {0x9c69169b30446dfa, 0x3f10946dfd3d8459},
    {0x9baade8e4a2f6e10, 0x3fac9e41ec2ae394}, {0x9aee72fcf957c10f, 0x4047eac497fe2860},
    {0x9a33cd67009a33cd, 0x40e27bbf398cecf1}, {0x997ae76b50efd00a, 0x417c52f49916702a},
    {0x98c3bac74f5db00a, 0x421572212d143970}, {0x980e4156201301c8, 0x42addafb38534701},
    {0x975a750ff68a58af, 0x43458f32e75adf82}, {0x96a850096a850097, 0x43dc90726d25f53a},
    {0x95f7cc72d1b887e9, 0x4472e05e1f33e102}, {0x9548e4979e0829fd, 0x4508809490f513ca},
    {0x949b92ddc02526e5, 0x459d72aeae98380e}, {0x93efd1c50e726b7c, 0x4631b83fd73c182f},
    {0x93459be6b009345a, 0x46c552d5f68a7bbf}, {0x929cebf48bbd90e5, 0x475843f99dc00c21},
    {0x91f5bcb8bb02d9cd, 0x47ea8d2e1c253030}, {0x9150091500915009, 0x487c2ff196fbaf87},
    {0x90abcc0242af3009, 0x490d2dbd20e4cf88}, {0x9009009009009009, 0x499d8804d0c37f35},
    {0x8f67a1e3fdc26178, 0x4a2d4037d81e0abc}, {0x8ec7ab397255e41d, 0x4abc57c09902b473},
    {0x8e2917e0e702c6cd, 0x4b4ad004bb7276af}, {0x8d8be33f95d71590, 0x4bd8aa65425518b6},
    {0x8cf008cf008cf009, 0x4c65e83e9ff9a875}, {0x8c55841c815ed5ca, 0x4cf28ae8ca265321},
    {0x8bbc50c8deb420c0, 0x4d7e93b74dba8009}, {0x8b246a87e19008b2, 0x4e0a03f961e5faff},
    {0x8a8dcd1feeae465c, 0x4e94dcf9faf7e632}, {0x89f87469a23920e0, 0x4f1f1fffdcc81721},
    {0x89645c4f6e055dec, 0x4fa8ce4dacbd6e0f}, {0x88d180cd3a4133d7, 0x5031e9220373a48b},
    {0x883fddf00883fddf, 0x50ba71b77e02fcb3}, {0x87af6fd5992d0d40, 0x51426944ceec2941},
    {0x872032ac13008720, 0x51c9d0fcceaab4c7}, {0x869222b1acf1ce96, 0x5250aa0e8bf01ded},
    {0x86053c345a0b8473, 0x52d6f5a55b89ce38}, {0x85797b917765ab89, 0x535cb4e8e7f4011d},
    {0x84eedd357c1b0085, 0x53e1e8fd409ba217}, {0x84655d9bab2f1008, 0x54669302e8d1199b},
    {0x83dcf94dc7570ce1, 0x54eab416e66df2aa}, {0x8355ace3c897db10, 0x556e4d52d02f34f2},
    {0x82cf750393ac3319, 0x55f15fccdbc64217}, {0x824a4e60b3262bc5, 0x5673ec97eba1f7dd},
    {0x81c635bc123fdf8e, 0x56f5f4c39c71cc70}, {0x814327e3b94f462f, 0x5777795c52648ddd},
    {0x80c121b28bd1ba98, 0x57f87b6b46246235}, {0x8040201008040201, 0x5878fbf691919a5e},
};

static const int64_t ln2 = 0x162e42fefa39ef3;    /* times 2^57 */
static const int64_t third = 0x2aaaaaaaaaaaaaab; /* times 2^63 */

static int64_t multiply_63(int64_t a, int64_t b) { return (int64_t)((__int128)a * b >> 63); }

/* -ln((r | 1) / 2^64), times 2^57. */
static int64_t minus_log_57(uint64_t r)
{
    r |= 1;
    const int zeros = __builtin_clzll(r);
    const uint64_t m = r << zeros; /* times 2^63, in [1, 2) */
    const uint64_t i = m >> 56 & 127;
    /* m * reciprocal = 1 + t with |t| < 2^-8 */
    const int64_t t =
        (int64_t)((uint64_t)((unsigned __int128)m * logs[i].reciprocal >> 64) - (1ull << 63));
    const int64_t t2 = multiply_63(t, t);
    /* ln(1 + t) = t - t^2 * (1/2 - t/3 + t^2/4) */
    const int64_t series = (1ll << 62) - multiply_63(t, third) + t2 / 4;
    const int64_t log = logs[i].log + t - multiply_63(t2, series);
    const int64_t result = (zeros + 1) * ln2 - (log >> 6);
    return result > 0 ? result : 0;
}

int64_t cw_rng_exp_ps(struct cw_rng *rng, int64_t mean_ps)
{
    if (mean_ps <= 0)
        return 0;
    const __int128 product = (__int128)minus_log_57(cw_rng_u64(rng)) * mean_ps >> 57;
    return product < CW_TIME_MAX ? (int64_t)product : CW_TIME_MAX;
}
