//go:build linux && amd64 && cgo

/* AMX: matrices in tile registers of at most 16 rows of 64 bytes. */

#include "execute.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* What LDTILECFG reads. */
struct config {
	uint8_t palette, start_row, reserved[14];
	uint16_t colsb[16]; /* bytes in a row; tiles 8 to 15 do not exist */
	uint8_t rows[16];
};
_Static_assert(sizeof(struct config) == 64, "the layout of the architecture");

enum { TILES = 8 };

/* Outside of its shape a tile is zero, from LDTILECFG on. */
static __thread struct config config;
static __thread union vector tile[TILES][16];

/* wrong explains a fault, upon which the runtime reports SIGILL. */
static bool wrong(const char *text) {
	const char name[] = "emulate: AMX: ";
	ssize_t n = write(STDERR_FILENO, name, sizeof name - 1);
	n += write(STDERR_FILENO, text, strlen(text));
	n += write(STDERR_FILENO, "\n", 1);
	return n < 0;
}

static void reset(void) {
	memset(&config, 0, sizeof config);
	memset(tile, 0, sizeof tile);
}

static bool ldtilecfg(const void *from) {
	struct config c;
	memcpy(&c, from, sizeof c);
	if (c.palette > 1)
		return wrong("LDTILECFG: palette is neither 0 nor 1");
	if (c.start_row)
		return wrong("LDTILECFG: start_row is not emulated");
	for (unsigned i = 0; i < sizeof c.reserved; i++) {
		if (c.reserved[i])
			return wrong("LDTILECFG: reserved byte is not zero");
	}
	for (unsigned i = 0; i < 16; i++) {
		if (i >= TILES && (c.rows[i] || c.colsb[i]))
			return wrong("LDTILECFG: shape of a tile above 7");
		if (c.rows[i] > 16 || c.colsb[i] > 64)
			return wrong("LDTILECFG: more than 16 rows or 64 bytes in a row");
		if (!c.rows[i] != !c.colsb[i])
			return wrong("LDTILECFG: only one of rows and colsb is zero");
	}
	reset();
	if (c.palette)
		config = c;
	return true;
}

static bool usable(unsigned t) {
	return t < TILES && config.rows[t];
}

/* Rows of memory start one index register apart. */
static uint8_t *row_in_memory(const struct insn *in, unsigned row) {
	return (uint8_t *)(in->base + in->disp + in->index * row);
}

static bool tileload(const struct insn *in) {
	if (!usable(in->reg))
		return wrong("TILELOADD: tile is not configured");
	for (unsigned r = 0; r < config.rows[in->reg]; r++)
		memcpy(&tile[in->reg][r], row_in_memory(in, r), config.colsb[in->reg]);
	return true;
}

static bool tilestore(const struct insn *in) {
	if (!usable(in->reg))
		return wrong("TILESTORED: tile is not configured");
	for (unsigned r = 0; r < config.rows[in->reg]; r++)
		memcpy(row_in_memory(in, r), &tile[in->reg][r], config.colsb[in->reg]);
	return true;
}

static bool tilezero(const struct insn *in) {
	if (!usable(in->reg))
		return wrong("TILEZERO: tile is not configured");
	memset(tile[in->reg], 0, sizeof tile[in->reg]);
	return true;
}

/* A product adds A times B to D: A has a row for each row of D, B a column for
 * each column of D, and groups of four bytes of A meet rows of B. */
static bool product_fits(const struct insn *in) {
	unsigned d = in->reg, a = in->rm, b = in->vvvv;
	if (!usable(d) || !usable(a) || !usable(b))
		return wrong("product: tile is not configured");
	if (d == a || d == b || a == b)
		return wrong("product: the same tile twice");
	if (config.colsb[d] % 4 || config.colsb[a] % 4)
		return wrong("product: colsb is not a multiple of 4");
	if (config.rows[d] != config.rows[a] || config.colsb[d] != config.colsb[b])
		return wrong("product: shapes of the destination and the sources differ");
	if (config.colsb[a] / 4 != config.rows[b])
		return wrong("product: colsb of the first source is not 4 times the rows of the second");
	return true;
}

static uint32_t extend(uint8_t x, bool sign) { return sign ? (uint32_t)(int8_t)x : x; }

/* product_int8 multiplies bytes, signed or not, modulo 2^32. */
static bool product_int8(const struct insn *in, bool sign_a, bool sign_b) {
	if (!product_fits(in))
		return false;
	union vector *d = tile[in->reg], *a = tile[in->rm], *b = tile[in->vvvv];
	for (unsigned m = 0; m < config.rows[in->reg]; m++)
		for (unsigned k = 0; k < config.rows[in->vvvv]; k++)
			for (unsigned n = 0; n < config.colsb[in->reg] / 4u; n++)
				for (unsigned i = 0; i < 4; i++)
					d[m].u32[n] += extend(a[m].u8[4 * k + i], sign_a) *
					               extend(b[k].u8[4 * n + i], sign_b);
	return true;
}

static float from_bf16(uint16_t x) {
	uint32_t bits = (uint32_t)x << 16;
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static float from_fp16(uint16_t x) { return _cvtsh_ss(x); }

/* A tile of pairs as floats: the first and the second of each pair. */
struct pairs {
	float value[2][16][16];
};

static void unpack(struct pairs *p, const union vector *t, float convert(uint16_t)) {
	for (unsigned row = 0; row < 16; row++)
		for (unsigned i = 0; i < 32; i++)
			p->value[i % 2][row][i / 2] = convert(t[row].u16[i]);
}

/* product_pairs multiplies 16-bit floats. The first and the second numbers of
 * the pairs are summed apart from each other and from the destination, each
 * product with one rounding; then both sums are added, and the destination. */
static bool product_pairs(const struct insn *in, float convert(uint16_t)) {
	if (!product_fits(in))
		return false;
	struct pairs a, b;
	unpack(&a, tile[in->rm], convert);
	unpack(&b, tile[in->vvvv], convert);
	union vector *d = tile[in->reg];
	for (unsigned m = 0; m < config.rows[in->reg]; m++) {
		float sum[2][16] = {0};
		for (unsigned i = 0; i < 2; i++)
			for (unsigned k = 0; k < config.rows[in->vvvv]; k++)
				for (unsigned n = 0; n < 16; n++)
					sum[i][n] = fmaf(a.value[i][m][k], b.value[i][k][n], sum[i][n]);
		for (unsigned n = 0; n < config.colsb[in->reg] / 4u; n++)
			d[m].f32[n] += sum[0][n] + sum[1][n];
	}
	return true;
}

static bool sttilecfg(void *to) {
	memcpy(to, &config, sizeof config);
	return true;
}

static bool tilerelease(void) {
	reset();
	return true;
}

bool execute_tile(const struct insn *in) {
	if (in->evex || in->map != MAP_0F38 || in->w || in->bytes != 16)
		return false;
	void *memory = (void *)insn_address(in, 0);
	bool three = !in->memory;                /* operands are tiles */
	bool rows = in->sib && !in->vvvv;        /* a tile and memory */
	bool alone = in->memory && !in->reg;     /* memory alone */
	bool none = !in->memory && !in->reg && !in->rm;
	bool one = !in->memory && !in->rm;
	switch (insn_id(in)) {
	case INSN(VEX, MAP_0F38, NP, 0x49): return alone ? ldtilecfg(memory) : none && tilerelease();
	case INSN(VEX, MAP_0F38, P66, 0x49): return alone && sttilecfg(memory);
	case INSN(VEX, MAP_0F38, PF2, 0x49): return one && tilezero(in);
	case INSN(VEX, MAP_0F38, PF2, 0x4B): /* TILELOADDT1 differs in a hint */
	case INSN(VEX, MAP_0F38, P66, 0x4B): return rows && tileload(in);
	case INSN(VEX, MAP_0F38, PF3, 0x4B): return rows && tilestore(in);
	case INSN(VEX, MAP_0F38, PF2, 0x5E): return three && product_int8(in, true, true);
	case INSN(VEX, MAP_0F38, PF3, 0x5E): return three && product_int8(in, true, false);
	case INSN(VEX, MAP_0F38, P66, 0x5E): return three && product_int8(in, false, true);
	case INSN(VEX, MAP_0F38, NP, 0x5E): return three && product_int8(in, false, false);
	case INSN(VEX, MAP_0F38, PF3, 0x5C): return three && product_pairs(in, from_bf16);
	case INSN(VEX, MAP_0F38, PF2, 0x5C): return three && product_pairs(in, from_fp16);
	}
	return false;
}
