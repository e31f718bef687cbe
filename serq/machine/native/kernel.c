/* The machine of events, compiled. This text, after the records (`layout.py`) and a few constants and before
   the functions of one program (`writer.py`), is the whole machine of that program.

   It does what `serq.machine.loop`, `holds`, `pools`, `cache` and `stages.engine` do, in the same order, for
   one engine and amounts that are whole: sums of whole numbers below 2^53 do not depend on the order of
   adding, and everything else is added in the order of the machine of events. Where something is not as it
   expects, `status` becomes LEAVE, and the run is done by that machine from the beginning. */

enum { MORE, OVER, LEAVE };          /* What `serq_run` answers. */
enum { TTFT, TPOT, RESPONSE };       /* The first series; observations follow. */
enum { SERIAL, TURN_NO, CACHED, COMPUTED }; /* The first attributes. */
enum { ENGINE };                     /* The first stage. */

#define WAKE_LIMIT 1000
#define PASS_LIMIT 1000000
#define SHOWN 5
#define WHOLE 9007199254740992.0
#define DONE 1e-9
/* Runs at the engine beyond which others are faster: here each is looked at in every iteration. */
#define CROWD 1024

/* ------------------------------------------------------------ the program's own functions */

static int go_on(Run *m, int64_t i);           /* A session goes on until it blocks; 1: it ends. */
static double token_cap(Run *m);
static void read_lets(Run *m);
static double each_at_most(Run *m);
static void form(Run *m);                      /* The schedule. */
static double execute(Run *m);
static void watch(Run *m);                     /* The claims about the iteration that starts. */
static void read_gauges(Run *m);
static int part_count(int64_t h);
static int part_pool(int64_t h, int k);
static double part_units(Run *m, int64_t h, int k, int64_t i);
static double part_reserve(Run *m, int64_t h, int k, int64_t i);
static int units_last(int64_t h, int k);       /* What a part takes cannot change while its hold waits. */
static int reserve_lasts(int64_t h, int k);
static int leaves_prefix(int64_t h);
static double prefix_left(Run *m, int64_t h, int64_t i);
static double prefix_used(Run *m, int64_t h, int64_t i);
static int64_t body_start(int64_t h);
static void init_session(Run *m, int64_t i);   /* These two only if sessions are made here. */
static double next_gap(Run *m);

/* ------------------------------------------------------------ arithmetic, as `serq.values` has it */

static double f_floor(double x) { return -WHOLE < x && x < WHOLE ? floor(x) + 0.0 : x; }
static double f_ceil(double x) { return -WHOLE < x && x < WHOLE ? ceil(x) + 0.0 : x; }
static double f_min(double a, double b) { return a < b || b != b ? a : b; }
static double f_max(double a, double b) { return a > b || b != b ? a : b; }
static double f_abs(double x) { return fabs(x); }
static double f_sqrt(double x) { return x >= 0 ? sqrt(x) : NAN; }
static double f_exp(double x) { return exp(x); }
static double f_ln(double x) { return x > 0 ? log(x) : x == 0 ? -INFINITY : NAN; }

static void stop(Run *m) { m->status = LEAVE; }

/* ------------------------------------------------------------ draws, as `serq.machine.draws` has them */

enum { FROM_ARRIVALS, FROM_MACHINE = 2, FROM_WORKLOAD, FROM_SESSION };
#define FIRST 16

/* The number `lane` of block `c0` of Philox 4x64-10 (Salmon et al., "Parallel random numbers: as easy as
   1, 2, 3", SC 2011), uniform on [0, 1). */
static double philox(const Run *m, uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3, int lane)
{
    uint64_t k0 = (uint64_t)m->key0, k1 = (uint64_t)m->key1;
    for (int round = 0; round < 10; round++) {
        unsigned __int128 a = (unsigned __int128)c0 * 0xD2E7470EE14C6C93u;
        unsigned __int128 b = (unsigned __int128)c2 * 0xCA5A826395121157u;
        c0 = (uint64_t)(b >> 64) ^ c1 ^ k0;
        c2 = (uint64_t)(a >> 64) ^ c3 ^ k1;
        c1 = (uint64_t)b;
        c3 = (uint64_t)a;
        k0 += 0x9E3779B97F4A7C15u;
        k1 += 0xBB67AE8584CAA73Bu;
    }
    uint64_t made = lane == 0 ? c0 : lane == 1 ? c1 : lane == 2 ? c2 : c3;
    return (double)(made >> 11) * (1.0 / 9007199254740992.0);
}

/* The next draw for session `i` from a source; those of the arrivals and of the machine have no session. */
static double uniform01(Run *m, int64_t i, int source)
{
    if (source == FROM_MACHINE || source == FROM_ARRIVALS) {
        int64_t n = source == FROM_MACHINE ? m->drawn++ : m->drawn_between++;
        return philox(m, (uint64_t)(n / 4 + 1), 0, 0, 1 + (uint64_t)source, (int)(n % 4));
    }
    Session *s = &m->sessions[i];
    int64_t n = source == FROM_SESSION ? s->drawn++ : s->drawn_in_turn++;
    uint64_t serial = (uint64_t)s->serial;
    uint64_t part = source == FROM_SESSION ? 0 : (uint64_t)m->attributes[i * ATTRIBUTES + TURN_NO];
    if (n < FIRST)
        return philox(m, serial * (FIRST / 4) + (uint64_t)n / 4 + 1, part, (uint64_t)source, 0, (int)(n % 4));
    n -= FIRST;
    return philox(m, (uint64_t)n / 4 + 1, serial, part, 1 + (uint64_t)source, (int)(n % 4));
}

static double exponential(double u, double mean) { return -mean * log1p(-u); }

static double draw_exp(Run *m, int64_t i, int source, double mean)
{
    if (!(0 <= mean && mean < INFINITY)) stop(m);
    return exponential(uniform01(m, i, source), mean);
}

static double draw_det(Run *m, int64_t i, int source, double x)
{
    (void)m; (void)i; (void)source;
    return x;
}

static double draw_uniform(Run *m, int64_t i, int source, double a, double b)
{
    if (!(-INFINITY < a && a <= b && b < INFINITY)) stop(m);
    return a + (b - a) * uniform01(m, i, source);
}

static double draw_bernoulli(Run *m, int64_t i, int source, double p)
{
    if (!(0 <= p && p <= 1)) stop(m);
    return uniform01(m, i, source) < p ? 1 : 0;
}

static double draw_h2(Run *m, int64_t i, int source, double mean, double variance)
{
    if (!(0 <= mean && mean < INFINITY) || variance != variance) stop(m);
    double v = variance > 1 ? variance : 1;
    double p = v < INFINITY ? (1.0 + sqrt((v - 1.0) / (v + 1.0))) / 2.0 : 1;
    double weight = uniform01(m, i, source) < p ? p : 1.0 - p;
    return weight > 0 ? exponential(uniform01(m, i, source), mean / (2.0 * weight)) : INFINITY;
}

static double draw_erlang(Run *m, int64_t i, int source, double k, double mean)
{
    if (!(1 <= k && k <= MOST_STAGES && 0 <= mean && mean < INFINITY)) { stop(m); return 0; }
    double sum = 0;
    for (int64_t n = (int64_t)k; n > 0; n--) sum += exponential(uniform01(m, i, source), mean / k);
    return sum;
}

static double draw_geometric(Run *m, int64_t i, int source, double p)
{
    if (!(LEAST_CHANCE <= p && p <= 1)) stop(m);
    double u = uniform01(m, i, source);
    return p == 1 ? 1 : 1.0 + floor(log1p(-u) / log1p(-p));
}

static double above_zero(double u) { return u > 0 ? u : LEAST; }

static double polynomial(const double *a, double x)
{
    double y = a[0];
    for (int k = 1; k < 8; k++) y = y * x + a[k];
    return y;
}

/* The standard normal quantile (Wichura, "Algorithm AS 241", Applied Statistics 37, 1988, PPND16): one
   quotient of polynomials in the middle, and one for each of two parts of the tails. */
static double normal(double u)
{
    static const double quotients[3][2][8] = {
        {{2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
          1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080},
         {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
          5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1}},
        {{7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
          1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550,
          4.63033784615654529590, 1.42343711074968357734},
         {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
          1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
          2.05319162663775882187, 1}},
        {{2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
          2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580,
          5.46378491116411436990, 6.65790464350110377720},
         {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
          7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
          5.99832206555887937690e-1, 1}},
    };
    double p = above_zero(u), q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return polynomial(quotients[0][0], r) * q / polynomial(quotients[0][1], r);
    }
    double r = sqrt(-log(q <= 0 ? p : 1.0 - p));
    int far = r > 5;
    r -= far ? 5.0 : 1.6;
    double x = polynomial(quotients[1 + far][0], r) / polynomial(quotients[1 + far][1], r);
    return q < 0 ? -x : x;
}

static double draw_lognormal(Run *m, int64_t i, int source, double mean, double cv)
{
    if (!(0 <= mean && mean < INFINITY && 0 <= cv && cv <= MOST_VARIATION)) stop(m);
    double s = log1p(cv * cv);
    return mean * exp(sqrt(s) * normal(uniform01(m, i, source)) - s / 2);
}

static double draw_pareto(Run *m, int64_t i, int source, double alpha, double least)
{
    if (!(LEAST_ALPHA <= alpha && alpha < INFINITY && 0 <= least && least < INFINITY)) stop(m);
    return least * pow(1 - uniform01(m, i, source), -1 / alpha);
}

/* Of scale 1 (Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000). */
static double gamma_of(Run *m, int64_t i, int source, double shape)
{
    if (shape < 1) {
        double whole = gamma_of(m, i, source, shape + 1);
        return whole * pow(above_zero(uniform01(m, i, source)), 1 / shape);
    }
    double d = shape - 1.0 / 3;
    double c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(uniform01(m, i, source));
        double v = pow(1 + c * x, 3);
        if (v > 0 && log(above_zero(uniform01(m, i, source))) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

static double draw_gamma(Run *m, int64_t i, int source, double shape, double mean)
{
    if (!(LEAST_SHAPE <= shape && shape < INFINITY && 0 <= mean && mean < INFINITY)) { stop(m); return 0; }
    double drawn = gamma_of(m, i, source, shape) * (mean / shape);
    return drawn > 0 || mean == 0 ? drawn : LEAST_POSITIVE;
}

/* ------------------------------------------------------------ samples and time */

static int64_t take_number(Run *m) { return m->number++; }

/* Room for one more in an array that grows; without memory the run is left. */
static void *grown(Run *m, void *array, int64_t count, int64_t *room, size_t size)
{
    if (count < *room) return array;
    int64_t wanted = *room ? 2 * *room : 64;
    void *larger = realloc(array, (size_t)wanted * size);
    if (!larger) { stop(m); return array; }
    *room = wanted;
    return larger;
}

static void add_sample(Run *m, int series, int64_t i, double value)
{
    Series *s = &m->series[series];
    s->samples = grown(m, s->samples, s->count, &s->room, sizeof(Sample));
    if (s->count == s->room) return;
    Sample *sample = &s->samples[s->count++];
    sample->time = m->now;
    sample->value = value;
    sample->session = m->sessions[i].serial;
    sample->turn = (int64_t)m->attributes[i * ATTRIBUTES + TURN_NO];
}

static void add_gap(Run *m, double gap)
{
    if (m->gap_count && m->gaps[m->gap_count - 1].gap == gap) {
        m->gaps[m->gap_count - 1].count++;
        return;
    }
    m->gaps = grown(m, m->gaps, m->gap_count, &m->gap_room, sizeof(Gap));
    if (m->gap_count < m->gap_room) m->gaps[m->gap_count++] = (Gap){gap, 1};
}

static void settle_stage(Run *m, int64_t d)
{
    Stage *stage = &m->stages[d];
    double passed = m->now - stage->since;
    if (passed != 0 && stage->present) {
        stage->area += (double)stage->present * passed;
        stage->busy_time += passed;
    }
    stage->since = m->now;
}

static void settle_pool(Run *m, int64_t p)
{
    Pool *pool = &m->pools[p];
    double passed = m->now - pool->since;
    if (passed != 0) {
        pool->used_area += pool->used * passed;
        pool->cached_area += pool->cached * passed;
        pool->queue_area += (double)pool->queued * passed;
        pool->holders_area += (double)pool->holders * passed;
    }
    pool->since = m->now;
}

static void change_live(Run *m, int by)
{
    m->live_area += (double)m->live * (m->now - m->live_since);
    m->live_since = m->now;
    m->live += by;
}

/* ------------------------------------------------------------ the heap of delays */

static int is_before(const Delay *a, const Delay *b)
{
    return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void swap(Delay *a, Delay *b) { Delay c = *a; *a = *b; *b = c; }

static void push(Run *m, double time, int64_t i)
{
    m->heap = grown(m, m->heap, m->delays, &m->delay_room, sizeof(Delay));
    if (m->delays == m->delay_room) return;
    int64_t k = m->delays++;
    m->heap[k] = (Delay){time, take_number(m), i};
    for (; k && is_before(&m->heap[k], &m->heap[(k - 1) / 2]); k = (k - 1) / 2)
        swap(&m->heap[k], &m->heap[(k - 1) / 2]);
}

/* The session whose delay ends first leaves the heap. */
static int64_t pop(Run *m)
{
    int64_t i = m->heap[0].session, last = --m->delays, k = 0;
    m->heap[0] = m->heap[last];
    for (;;) {
        int64_t least = k, left = 2 * k + 1;
        if (left < last && is_before(&m->heap[left], &m->heap[least])) least = left;
        if (left + 1 < last && is_before(&m->heap[left + 1], &m->heap[least])) least = left + 1;
        if (least == k) return i;
        swap(&m->heap[k], &m->heap[least]);
        k = least;
    }
}

/* ------------------------------------------------------------ sessions */

static int64_t *list(Run *m, int64_t *array, int64_t room)
{
    int64_t *larger = realloc(array, (size_t)room * sizeof(int64_t));
    if (!larger) stop(m);
    return larger ? larger : array;
}

/* Twice as many slots for sessions. */
static void make_slots(Run *m)
{
    int64_t had = m->room, room = had ? 2 * had : 64;
    Session *sessions = realloc(m->sessions, (size_t)room * sizeof(Session));
    if (sessions) m->sessions = sessions;
    double *attributes = realloc(m->attributes, (size_t)(room * ATTRIBUTES) * sizeof(double));
    if (attributes) m->attributes = attributes;
    Part *parts = realloc(m->parts, (size_t)(room * POOLS + 1) * sizeof(Part));
    if (parts) m->parts = parts;
    m->free_list = list(m, m->free_list, room);
    m->order_list = list(m, m->order_list, room);
    m->batch_list = list(m, m->batch_list, room);
    m->scratch_list = list(m, m->scratch_list, room);
    m->newcomer_list = list(m, m->newcomer_list, room);
    /* Those that are ready stand in a ring, which begins anew. */
    int64_t *ready = malloc((size_t)room * sizeof(int64_t));
    if (!sessions || !attributes || !parts || !ready) stop(m);
    if (m->status != MORE) { free(ready); return; }
    for (int64_t k = 0; k < m->ready; k++) ready[k] = m->ready_list[(m->ready_first + k) % had];
    free(m->ready_list);
    m->ready_list = ready;
    m->ready_first = 0;
    for (int64_t i = room - 1; i >= had; i--) {
        m->sessions[i].serial = -1;
        m->free_list[m->free++] = i;
    }
    m->room = room;
}

static void make_ready(Run *m, int64_t i)
{
    if (m->ready < m->room) m->ready_list[(m->ready_first + m->ready++) % m->room] = i;
    else stop(m);
}

/* A session comes: one that is made here, or the next of those that were fed. */
static void create(Run *m)
{
    if (!m->free) make_slots(m);
    if (m->status != MORE) return;
    int64_t i = m->free_list[--m->free], k = m->fed++;
    double *attributes = &m->attributes[i * ATTRIBUTES];
    m->sessions[i] = (Session){.serial = m->arrived++, .stage = -1, .woke_at = -1, .admission = INFINITY};
    change_live(m, +1);
    if (MADE_HERE) {
        memset(attributes, 0, ATTRIBUTES * sizeof(double));
        attributes[SERIAL] = (double)m->sessions[i].serial;
        init_session(m, i);
    } else {
        memcpy(attributes, &m->fed_attributes[k * ATTRIBUTES], ATTRIBUTES * sizeof(double));
    }
    for (int p = 0; p < POOLS; p++) m->parts[i * POOLS + p] = (Part){.own = -1};
    make_ready(m, i);
}

static void give_all_back(Run *m, int64_t i);

static void end_session(Run *m, int64_t i)
{
    if (m->sessions[i].hold) give_all_back(m, i);
    for (int p = 0; p < POOLS; p++) {
        int64_t e = m->parts[i * POOLS + p].own;
        if (e >= 0) m->entries[e].owner = -1;
    }
    change_live(m, -1);
    m->ended++;
    m->sessions[i].serial = -1;
    m->free_list[m->free++] = i;
    if (m->wanted == m->arrived && !m->live) m->drained = 1;
}

/* Every ready session goes on until it blocks or ends, and those that become ready meanwhile. */
static void resume_ready(Run *m)
{
    while (m->ready && m->status == MORE) {
        int64_t i = m->ready_list[m->ready_first];
        Session *s = &m->sessions[i];
        m->ready_first = (m->ready_first + 1) % m->room;
        m->ready--;
        if (s->woke_at != m->now) {
            s->woke_at = m->now;
            s->wakes = s->passes = 0;
        }
        if (++s->wakes > WAKE_LIMIT) { stop(m); return; }
        s->stage = -1;
        if (go_on(m, i)) end_session(m, i);
    }
}

/* A loop of the session passes once more; not without end at one instant. */
static int passes_on(Run *m, int64_t i)
{
    if (++m->sessions[i].passes > PASS_LIMIT) stop(m);
    return m->status == MORE;
}

static void know_ttft(Run *m, int64_t i)
{
    Session *s = &m->sessions[i];
    if (s->in_turn && !s->known && s->first_token >= 0) {
        s->known = 1;
        add_sample(m, TTFT, i, s->first_token - s->turn_started);
    }
}

static void start_turn(Run *m, int64_t i)
{
    Session *s = &m->sessions[i];
    m->turns++;
    m->attributes[i * ATTRIBUTES + TURN_NO] += 1.0;
    s->turn_started = m->now;
    s->first_token = -1;
    s->in_turn = 1;
    s->drawn_in_turn = s->tokens = s->decoded = s->known = s->token_at = s->lost_at = 0;
}

static void end_turn(Run *m, int64_t i)
{
    Session *s = &m->sessions[i];
    if (s->first_token >= 0) {
        know_ttft(m, i);
        if (s->tokens >= 2) add_sample(m, TPOT, i, (m->now - s->first_token) / (double)(s->tokens - 1));
    }
    add_sample(m, RESPONSE, i, m->now - s->turn_started);
    s->in_turn = 0;
}

static void leave_stage(Run *m, int64_t i, int64_t d)
{
    Stage *stage = &m->stages[d];
    settle_stage(m, d);
    stage->present--;
    stage->completed++;
    stage->service += m->now - m->sessions[i].joined_at;
    m->sessions[i].stage = -1;
    make_ready(m, i);
}

static void run_delay(Run *m, int64_t i, int64_t d, double work)
{
    if (work > 0) {
        settle_stage(m, d);
        m->stages[d].present++;
        m->sessions[i].stage = d;
        m->sessions[i].joined_at = m->now;
        if (m->now + work < INFINITY) push(m, m->now + work, i);
    } else if (work == 0) {
        make_ready(m, i);
    } else {
        stop(m);
    }
}

/* The engine's standing order: by admission, then by joining. */
static int stands_before(const Session *a, const Session *b)
{
    return a->admission != b->admission ? a->admission < b->admission : a->place < b->place;
}

static void insert(Run *m, int64_t *array, int64_t k, int64_t i)
{
    for (; k && stands_before(&m->sessions[i], &m->sessions[array[k - 1]]); k--) array[k] = array[k - 1];
    array[k] = i;
}

static void erase(int64_t *array, int64_t *count, int64_t i)
{
    int64_t k = 0;
    while (array[k] != i) k++;
    memmove(&array[k], &array[k + 1], (size_t)(--*count - k) * sizeof(int64_t));
}

/* A run at the engine; pool: what grows with it, or -1. */
static void run_engine(Run *m, int64_t i, int decode, double work, int pool)
{
    Session *s = &m->sessions[i];
    if (decode && s->first_token == m->now) know_ttft(m, i);
    if (pool >= 0 && !(s->hold && m->parts[i * POOLS + pool].has)) { stop(m); return; }
    if (work == 0) { make_ready(m, i); return; }
    if (!(0 < work && work < WHOLE && work == floor(work))) { stop(m); return; }
    settle_stage(m, ENGINE);
    if (++m->stages[ENGINE].present > CROWD) stop(m);
    s->stage = ENGINE;
    s->decode = decode;
    s->part = pool;
    s->place = m->joined++;
    s->remaining = work;
    s->given = 0;
    s->joined_at = m->now;
    m->decoding += decode;
    if (pool >= 0) s->advanced = 1;
    insert(m, m->order_list, m->order++, i);
    if (m->forming) insert(m, m->newcomer_list, m->newcomers++, i);
}

/* ------------------------------------------------------------ pools and their caches */

static double round_up(const Pool *pool, double units)
{
    return pool->block == 0 || !(units < INFINITY) ? units : ceil(units / pool->block) * pool->block;
}

static double round_down(const Pool *pool, double units)
{
    return pool->block == 0 || !(units < INFINITY) ? units : floor(units / pool->block) * pool->block;
}

/* A cached prefix is no more. */
static void unlink_entry(Run *m, int64_t p, int64_t e)
{
    Entry *entry = &m->entries[e];
    Pool *pool = &m->pools[p];
    *(entry->older >= 0 ? &m->entries[entry->older].newer : &pool->oldest) = entry->newer;
    *(entry->newer >= 0 ? &m->entries[entry->newer].older : &pool->newest) = entry->older;
    if (entry->owner >= 0) m->parts[entry->owner * POOLS + p].own = -1;
    entry->newer = m->entry_free;
    m->entry_free = e;
}

static double own_units(Run *m, int64_t i, int64_t p)
{
    int64_t e = m->parts[i * POOLS + p].own;
    return e >= 0 ? m->entries[e].units : 0;
}

/* Up to `units` of the session's prefix are used; what is left of it, nobody can use. */
static double consume(Run *m, int64_t i, int64_t p, double units)
{
    Part *part = &m->parts[i * POOLS + p];
    if (part->own < 0) return 0;
    Entry *entry = &m->entries[part->own];
    double taken = units < entry->units ? units : entry->units;
    m->pools[p].cached -= taken;
    entry->units -= taken;
    if (entry->units > 0) {
        entry->owner = -1;
        part->own = -1;
    } else {
        unlink_entry(m, p, part->own);
    }
    return taken;
}

/* The session leaves a prefix behind, in place of the one it has there. */
static void leave_prefix(Run *m, int64_t i, int64_t p, double units)
{
    Pool *pool = &m->pools[p];
    Part *part = &m->parts[i * POOLS + p];
    settle_pool(m, p);
    units = round_down(pool, units);
    if (!(units > 0)) return;
    if (part->own >= 0) {
        pool->cached -= m->entries[part->own].units;
        unlink_entry(m, p, part->own);
    }
    if (m->entry_free < 0) {
        int64_t had = m->entry_room;
        m->entries = grown(m, m->entries, had, &m->entry_room, sizeof(Entry));
        if (m->status != MORE) return;
        for (int64_t e = m->entry_room - 1; e >= had; e--) {
            m->entries[e].newer = m->entry_free;
            m->entry_free = e;
        }
    }
    int64_t e = m->entry_free;
    m->entry_free = m->entries[e].newer;
    m->entries[e] = (Entry){units, i, pool->newest, -1};
    *(pool->newest >= 0 ? &m->entries[pool->newest].newer : &pool->oldest) = e;
    pool->newest = e;
    part->own = e;
    pool->cached += units;
}

/* The oldest prefixes go, until `units` more fit beside those that stay. */
static void make_room(Run *m, int64_t p, double units)
{
    Pool *pool = &m->pools[p];
    while (pool->cached > 0 && pool->used + units + pool->cached > pool->cap) {
        Entry *entry = &m->entries[pool->oldest];
        double gone = entry->units;
        if (pool->block != 0) {
            double excess = round_up(pool, pool->used + units + pool->cached - pool->cap);
            if (excess < gone) gone = excess;
        }
        pool->evicted_units += gone;
        pool->cached -= gone;
        entry->units -= gone;
        if (!(entry->units > 0)) {
            pool->evicted_entries++;
            unlink_entry(m, p, pool->oldest);
        }
    }
}

static int has_room(const Pool *pool, double units) { return pool->used + units <= pool->cap; }

static void enlarge(Run *m, int64_t i, int64_t p, double units)
{
    settle_pool(m, p);
    make_room(m, p, units);
    m->pools[p].used += units;
    m->parts[i * POOLS + p].units += units;
}

/* A part of hold `h` is given back; what is computed of it may stay behind as a prefix. */
static void give_back(Run *m, int64_t i, int64_t h, int64_t p)
{
    Part *part = &m->parts[i * POOLS + p];
    double left = 0;
    part->has = 0;
    if (leaves_prefix(h)) {
        double computed = m->sessions[i].advanced ? part->position : part->units;
        left = prefix_left(m, h, i);
        if (computed < left) left = computed;
    }
    settle_pool(m, p);
    m->pools[p].used -= part->units;
    m->pools[p].holders--;
    if (leaves_prefix(h)) leave_prefix(m, i, p, left);
}

/* Every part of the session's hold, in the order of its header. */
static void give_all_back(Run *m, int64_t i)
{
    int64_t h = m->sessions[i].hold - 1;
    for (int k = 0; k < part_count(h); k++)
        if (m->parts[i * POOLS + part_pool(h, k)].has) give_back(m, i, h, part_pool(h, k));
    m->sessions[i].hold = 0;
}

static int admit_free(Run *m);

static void end_hold(Run *m, int64_t i)
{
    give_all_back(m, i);
    m->attributes[i * ATTRIBUTES + COMPUTED] = 0;
    admit_free(m);
}

/* ------------------------------------------------------------ queues */

/* The session asks for hold `h`, from now on, in the queue of its first pool. */
static void enqueue(Run *m, int64_t i, int64_t h, int at_head)
{
    int64_t p = part_pool(h, 0);
    Pool *pool = &m->pools[p];
    Session *s = &m->sessions[i];
    settle_pool(m, p);
    s->waiting = h + 1;
    s->wait_since = m->now;
    if (at_head) {
        s->next = pool->queued ? pool->head : -1;
        if (!pool->queued) pool->tail = i;
        pool->head = i;
    } else {
        s->next = -1;
        *(pool->queued ? &m->sessions[pool->tail].next : &pool->head) = i;
        pool->tail = i;
    }
    pool->queued++;
}

/* What a hold asks of a pool, in whole blocks and whole units. */
static double amount(Run *m, const Pool *pool, double units)
{
    units = round_up(pool, units);
    if (!(units >= 0) || (units < INFINITY && (units != floor(units) || units > WHOLE))) stop(m);
    return units;
}

/* Whether every part of the hold that a session waits for has room now; what it would take is noted. */
static int fits(Run *m, int64_t i, int64_t h)
{
    for (int k = 0; k < part_count(h); k++) {
        Pool *pool = &m->pools[part_pool(h, k)];
        double units = amount(m, pool, part_units(m, h, k, i));
        double reserve = amount(m, pool, part_reserve(m, h, k, i));
        m->parts[i * POOLS + part_pool(h, k)].units = units;
        if (!has_room(pool, units > reserve ? units : reserve)) return 0;
    }
    return m->status == MORE;
}

/* The session asks for a hold; 1: it asks for what can never fit, and ends. */
static int ask(Run *m, int64_t i, int64_t h)
{
    for (int k = 0; k < part_count(h); k++) {
        Pool *pool = &m->pools[part_pool(h, k)];
        double units = part_units(m, h, k, i), reserve = part_reserve(m, h, k, i);
        double room = amount(m, pool, units), reserved = amount(m, pool, reserve);
        if ((units_last(h, k) && room > pool->cap) || (reserve_lasts(h, k) && reserved > pool->cap)) {
            pool->rejected++;
            if (m->rejections < SHOWN)
                m->rejected[m->rejections++] =
                    (Rejection){units > reserve ? units : reserve, m->sessions[i].serial, h, k};
            return 1;
        }
    }
    m->sessions[i].loss = -1;
    enqueue(m, i, h, 0);
    return 0;
}

/* The head of a queue gets what it asks for; there is room, and what it takes has been noted. */
static void admit(Run *m, int64_t i)
{
    Session *s = &m->sessions[i];
    int64_t h = s->waiting - 1, first = part_pool(h, 0);
    double most = 0;
    settle_pool(m, first);
    m->pools[first].head = s->next;
    m->pools[first].queued--;
    m->pools[first].queue_admissions++;
    m->pools[first].wait_sum += m->now - s->wait_since;
    s->admission = (double)m->admissions++;
    double reuse = leaves_prefix(h) ? prefix_used(m, h, i) : 0;
    for (int k = 0; k < part_count(h); k++) {
        int64_t p = part_pool(h, k);
        double found = 0;
        if (leaves_prefix(h)) {
            settle_pool(m, p);
            found = consume(m, i, p, round_down(&m->pools[p], reuse > 0 ? reuse : 0));
        }
        m->parts[i * POOLS + p].position = found;
        if (found > most) most = found;
    }
    m->attributes[i * ATTRIBUTES + CACHED] = most;
    s->hold = h + 1;
    s->advanced = 0;
    for (int k = 0; k < part_count(h); k++) {
        int64_t p = part_pool(h, k);
        Part *part = &m->parts[i * POOLS + p];
        settle_pool(m, p);
        part->has = 1;
        m->pools[p].holders++;
        make_room(m, p, part->units);
        m->pools[p].used += part->units;
        m->pools[p].admissions++;
    }
    s->waiting = 0;
    make_ready(m, i);
}

/* Pool by pool, growths that fit now, then the queue unless the engine admits it; whether anybody moved. */
static int admit_free(Run *m)
{
    int moved = 0;
    for (int p = 0; p < POOLS; p++) {
        Pool *pool = &m->pools[p];
        while (pool->growing && has_room(pool, m->sessions[pool->grow_head].growth)) {
            int64_t i = pool->grow_head;
            pool->grow_head = m->sessions[i].after;
            pool->growing--;
            enlarge(m, i, p, m->sessions[i].growth);
            m->sessions[i].growth = 0;
            moved = 1;
        }
        while (pool->queued && !pool->of_engine && fits(m, pool->head, m->sessions[pool->head].waiting - 1)) {
            admit(m, pool->head);
            moved = 1;
        }
    }
    return moved;
}

/* ------------------------------------------------------------ the engine */

static void take_returned(Run *m)
{
    m->left += m->returned;
    m->returned = 0;
}

static double waiting_count(Run *m)
{
    int64_t total = 0;
    for (int p = 0; p < POOLS; p++)
        if (m->pools[p].of_engine) total += m->pools[p].queued;
    return (double)total;
}

static double demand(Run *m)
{
    double total = 0;
    for (int64_t k = 0; k < m->order; k++) {
        Session *s = &m->sessions[m->order_list[k]];
        double most = s->decode ? 1 : m->each;
        total += s->remaining < most ? s->remaining : most;
    }
    return total;
}

/* What sessions of a list hold of the engine's memory; decode: the phase of those that count. */
static double memory_of(Run *m, const int64_t *array, int64_t count, int decode)
{
    double total = 0;
    for (int64_t k = 0; MEMORY >= 0 && k < count; k++) {
        Session *s = &m->sessions[array[k]];
        Part *part = &m->parts[array[k] * POOLS + MEMORY];
        if (s->decode == decode && s->hold && part->has) total += part->units;
    }
    return total;
}

static double running_memory(Run *m, int decode) { return memory_of(m, m->order_list, m->order, decode); }

static double batch_memory(Run *m, int decode) { return memory_of(m, m->batch_list, m->batch, decode); }

/* Tokens for newcomers: of the try that reads it, or what the present runs would leave. */
static double budget_left(Run *m)
{
    if (m->offer == m->offer) return m->offer;
    double left = token_cap(m);
    read_lets(m);
    double each = each_at_most(m);
    for (int64_t k = 0; k < m->order && left > 0; k++) {
        const Session *s = &m->sessions[m->order_list[k]];
        double most = s->decode ? 1 : each;
        double n = s->remaining < most ? s->remaining : most;
        left -= left < n ? left : n;
    }
    return left;
}

/* Tokens that a run gets of what is left. */
static double share(Run *m, const Session *s)
{
    double most = s->decode ? 1 : m->each;
    double n = s->remaining < most ? s->remaining : most;
    if (m->left < n) n = m->left;
    if (!s->decode && GRANULE > 0 && n < s->remaining) n = GRANULE <= n ? floor(n / GRANULE) * GRANULE : 0;
    return n;
}

/* Of the runs that hold some of the engine's memory and do not wait for it, the last admitted; or -1. */
static int64_t choose_victim(Run *m, int64_t p)
{
    for (int64_t k = m->pools[p].may_preempt ? m->order - 1 : -1; k >= 0; k--) {
        int64_t i = m->order_list[k];
        if (m->sessions[i].growth == 0 && m->sessions[i].hold && m->parts[i * POOLS + p].has) return i;
    }
    return -1;
}

/* The victim loses its hold, and waits for it again; what the batch gave it goes back to the budget. */
static void preempt(Run *m, int64_t i, int64_t p)
{
    Session *s = &m->sessions[i];
    int64_t h = s->hold - 1;
    double position = m->parts[i * POOLS + p].position, n = s->given;
    m->pools[p].preemptions++;
    m->preempted++;
    erase(m->order_list, &m->order, i);
    if (n != 0) {
        erase(m->batch_list, &m->batch, i);
        s->given = 0;
        m->batch_tokens -= n;
        if (s->part >= 0) m->returned += n;
        if (s->decode) {
            m->decoders--;
        } else {
            m->prefilled -= n;
            m->attention -= n * ((s->part >= 0 ? m->parts[i * POOLS + s->part].position : 0) + n / 2);
        }
    }
    settle_stage(m, ENGINE);
    m->stages[ENGINE].present--;
    m->decoding -= s->decode;
    s->stage = -1;
    s->lost_at = s->token_at;
    int again = s->loss >= position;
    s->loss = position;
    if (again && !s->stuck) {
        s->stuck = 1;
        m->stuck = grown(m, m->stuck, m->stuck_count, &m->stuck_room, sizeof(Stuck));
        if (m->stuck_count < m->stuck_room) m->stuck[m->stuck_count++] = (Stuck){s->serial, h, p};
    }
    m->attributes[i * ATTRIBUTES + COMPUTED] = position;
    s->advanced = 1;
    give_all_back(m, i);
    s->pc = body_start(h);
    enqueue(m, i, h, (int)m->pools[p].requeue_head);
}

/* The run's hold grows to what `n` more tokens need; 0: no room, no tokens. */
static int make_memory(Run *m, int64_t i, int64_t p, double n)
{
    Pool *pool = &m->pools[p];
    Part *part = &m->parts[i * POOLS + p];
    double more = round_up(pool, part->position + n) - part->units;
    while (more > 0 && !has_room(pool, more)) {
        int64_t victim = choose_victim(m, p);
        if (victim < 0) {
            m->sessions[i].growth = more;
            *(pool->growing ? &m->sessions[pool->grow_tail].after : &pool->grow_head) = i;
            pool->grow_tail = i;
            pool->growing++;
            return 0;
        }
        double returned = m->returned, given = m->batch_tokens;
        preempt(m, victim, p);
        m->returned = returned + (given - m->batch_tokens);
        if (victim == i) return 0;
    }
    if (more > 0) enlarge(m, i, p, more);
    return 1;
}

/* Give a run what it may have; 0 if it was preempted itself. */
static int serve(Run *m, int64_t i)
{
    Session *s = &m->sessions[i];
    if (s->growth != 0) return 1;
    double n = share(m, s), before = 0;
    if (n <= 0) {
        m->refused = 1;
        return 1;
    }
    if (s->part >= 0) {
        Part *part = &m->parts[i * POOLS + s->part];
        if (part->position + n > part->units && !make_memory(m, i, s->part, n)) return s->stage == ENGINE;
        before = part->position;
    }
    s->given = n;
    m->batch_list[m->batch++] = i;
    m->left -= n;
    take_returned(m);
    m->batch_tokens += n;
    if (s->decode) {
        m->decoders++;
    } else {
        m->prefilled += n;
        m->attention += n * (before + n / 2);
    }
    return 1;
}

/* The runs not yet served in this iteration, in the standing order; how many. */
static int64_t unserved(Run *m)
{
    int64_t count = 0;
    take_returned(m);
    for (int64_t k = 0; k < m->order; k++)
        if (m->sessions[m->order_list[k]].given == 0) m->scratch_list[count++] = m->order_list[k];
    return count;
}

/* Admit the head of the first queue; how many runs came because of it, or -1 if it does not fit. */
static int64_t admit_head(Run *m)
{
    for (int p = 0; p < POOLS; p++) {
        Pool *pool = &m->pools[p];
        if (!pool->of_engine || !pool->queued) continue;
        m->offer = m->left;
        int fit = fits(m, pool->head, m->sessions[pool->head].waiting - 1);
        m->offer = NAN;
        if (!fit) return -1;
        m->newcomers = 0;
        m->admitted++;
        admit(m, pool->head);
        resume_ready(m);
        return m->newcomers;
    }
    return -1;
}

static void start(Run *m)
{
    watch(m);
    double lasts = execute(m);
    if (!(lasts > 0)) {
        if (m->batch_tokens != 0) { stop(m); return; }
        lasts = 0;
    }
    for (int64_t k = 0; k < m->batch; k++) {
        int64_t i = m->batch_list[k];
        Session *s = &m->sessions[i];
        if (s->part >= 0) m->parts[i * POOLS + s->part].position += s->given;
    }
    m->batch_runs = m->batch;
    m->iterations++;
    if (m->decoders) {
        m->decode_starts++;
        m->decode_sum += m->decoders;
        m->decode_duration += lasts;
    }
    m->started = m->now;
    m->idle = 0;
    if (lasts < INFINITY) {
        m->finish_at = m->now + lasts;
        m->finish_no = take_number(m);
    }
}

/* Form a batch and start it; an attempt that gives nobody a token leaves the engine idle. */
static void try_iteration(Run *m)
{
    double budget = token_cap(m);
    if (!(budget >= 0) || (budget < INFINITY && (budget != floor(budget) || budget > WHOLE))) { stop(m); return; }
    read_lets(m);
    m->each = each_at_most(m);
    if (m->each != m->each || (fabs(m->each) < INFINITY && m->each != floor(m->each))) { stop(m); return; }
    m->left = budget;
    m->returned = m->batch_tokens = m->prefilled = m->attention = 0;
    m->decoders = m->preempted = m->admitted = m->refused = m->batch = 0;
    double before[REGISTERS + 1];
    memcpy(before, m->registers, REGISTERS * sizeof(double));
    m->forming = 1;
    form(m);
    m->forming = 0;
    if (m->status != MORE) return;
    if (m->batch_tokens != 0 || m->preempted) {
        m->fruitless = 0;
        start(m);
        return;
    }
    m->fruitless = m->stages[ENGINE].present > 0 || waiting_count(m) > 0;
    if (!m->admitted) memcpy(m->registers, before, REGISTERS * sizeof(double));
}

static void tally_iteration(Run *m)
{
    double passed = m->now - m->started;
    m->started = m->now;
    if (m->prefilled == 0) {
        if (m->batch_tokens != 0) m->decode_only += passed;
    } else if (m->decoders) {
        m->mixed += passed;
    } else {
        m->prefill_only += passed;
    }
    m->decode_area += (double)m->decoders * passed;
}

static void add_token(Run *m, int64_t i)
{
    Session *s = &m->sessions[i];
    if (s->first_token < 0) s->first_token = m->now;
    else add_gap(m, m->now - s->last_token);
    s->tokens++;
    s->last_token = m->now;
    s->token_at = s->decoded = 1;
    if (!s->known) know_ttft(m, i);
}

static void end_prefill(Run *m, int64_t i)
{
    Session *s = &m->sessions[i];
    if (s->decoded || s->lost_at) add_gap(m, m->now - s->last_token);
    if (s->decoded || s->known) {
        s->tokens++;
    } else {
        s->first_token = m->now;
        s->tokens = 1;
    }
    s->last_token = m->now;
    s->token_at = 1;
    s->lost_at = 0;
}

/* The iteration is over: tokens count, runs with nothing left leave in serving order. */
static void finish(Run *m)
{
    int64_t done = 0;
    tally_iteration(m);
    m->finish_at = INFINITY;
    m->idle = 1;
    m->batch_runs = 0;
    m->served += m->batch_tokens;
    for (int64_t k = 0; k < m->batch; k++) {
        int64_t i = m->batch_list[k];
        Session *s = &m->sessions[i];
        s->remaining -= s->given;
        s->given = 0;
        if (s->decode) add_token(m, i);
        if (s->remaining <= DONE) {
            if (!s->decode) end_prefill(m, i);
            m->scratch_list[done++] = i;
        }
    }
    m->batch = 0;
    for (int64_t k = 0; k < done; k++) {
        int64_t i = m->scratch_list[k];
        erase(m->order_list, &m->order, i);
        m->decoding -= m->sessions[i].decode;
        leave_stage(m, i, ENGINE);
    }
}

/* ------------------------------------------------------------ the run */

static void settle(Run *m)
{
    do resume_ready(m);
    while (m->status == MORE && admit_free(m));
}

/* A gauge has this value from now on, unless the instant goes on. */
static void show_gauge(Run *m, int gauge, double value)
{
    Series *s = &m->gauges[gauge];
    const Sample *last = s->count ? &s->samples[s->count - 1] : NULL;
    if (last && value != last->value && last->time == m->now) s->count--;
    last = s->count ? &s->samples[s->count - 1] : NULL;
    if (last && value == last->value) return;
    s->samples = grown(m, s->samples, s->count, &s->room, sizeof(Sample));
    if (s->count < s->room) s->samples[s->count++] = (Sample){m->now, value, 0, 0};
}

static void close_instant(Run *m)
{
    if (m->status != MORE) return;
    if (m->idle && (m->stages[ENGINE].present > 0 || waiting_count(m) > 0)) try_iteration(m);
    read_gauges(m);
}

/* Averages begin anew; counters count from time 0. */
static void end_warmup(Run *m)
{
    for (int d = 0; d < STAGES; d++) {
        Stage *stage = &m->stages[d];
        *stage = (Stage){.since = m->now, .present = stage->present};
    }
    m->prefill_only = m->decode_only = m->mixed = m->decode_area = m->decode_duration = 0;
    m->decode_starts = m->decode_sum = m->gap_count = 0;
    m->started = m->now;
    for (int p = 0; p < POOLS; p++) {
        Pool *pool = &m->pools[p];
        pool->used_area = pool->cached_area = pool->queue_area = pool->holders_area = pool->wait_sum = 0;
        pool->queue_admissions = 0;
        pool->since = m->now;
    }
    change_live(m, 0);
    m->live_area = 0;
    m->ended = m->turns = 0;
    m->warm_at = INFINITY;
}

/* The next session comes at its time, unless enough have come. */
static void await_next(Run *m)
{
    m->arrive_at = INFINITY;
    if (m->wanted == m->arrived) return;
    if (MADE_HERE && FIRST_AT_0 && !m->begun) {
        m->arrive_at = m->now;
    } else if (MADE_HERE) {
        double gap = next_gap(m);
        m->arrive_at = m->now + gap;
        /* A clock that hardly moves is for the machine of events. */
        if (!(gap >= SMALLEST_GAP && gap < INFINITY && m->arrive_at != m->now)) stop(m);
    } else {
        m->arrive_at = m->fed_at[m->fed];
    }
    m->arrive_no = take_number(m);
}

/* When the next event is. */
static double next_at(const Run *m)
{
    double soon = m->finish_at < m->arrive_at ? m->finish_at : m->arrive_at;
    if (m->warm_at < soon) soon = m->warm_at;
    if (m->delays && m->heap[0].time < soon) soon = m->heap[0].time;
    return soon;
}

/* What happens at time 0, before the first event. */
static void begin(Run *m)
{
    if (m->warm_at < INFINITY) m->warm_no = take_number(m);
    for (int64_t k = 0; k < m->at_once; k++) create(m);
    if (!m->at_once) await_next(m);
    settle(m);
    if (next_at(m) != m->now) close_instant(m);
    m->begun = 1;
}

/* The earliest event, of several the first that was scheduled. */
static void handle(Run *m, double soon)
{
    enum { FINISH, ARRIVE, WARM, DELAY } kind = FINISH;
    int64_t number = INT64_MAX;
    if (m->finish_at == soon) number = m->finish_no;
    if (m->arrive_at == soon && m->arrive_no < number) { kind = ARRIVE; number = m->arrive_no; }
    if (m->warm_at == soon && m->warm_no < number) { kind = WARM; number = m->warm_no; }
    if (m->delays && m->heap[0].time == soon && m->heap[0].number < number) kind = DELAY;
    m->now = soon;
    m->events++;
    if (kind == FINISH) {
        finish(m);
    } else if (kind == ARRIVE) {
        create(m);
        await_next(m);
    } else if (kind == WARM) {
        end_warmup(m);
    } else {
        int64_t i = pop(m);
        leave_stage(m, i, m->sessions[i].stage);
    }
}

/* A run with room for `slots` sessions; its numbers are filled in by whoever asks. */
Run *serq_create(int64_t slots)
{
    Run *m = calloc(1, sizeof(Run));
    if (!m) return NULL;
    m->entry_free = -1;
    m->offer = NAN;
    m->gauges = calloc(GAUGES + 1, sizeof(Series));
    m->pools = calloc(POOLS + 1, sizeof(Pool));
    m->stages = calloc(STAGES, sizeof(Stage));
    m->series = calloc(SERIES, sizeof(Series));
    m->registers = calloc(REGISTERS + 1, sizeof(double));
    m->lets = calloc(LETS + 1, sizeof(double));
    m->claims = calloc(CLAIMS + 1, sizeof(Claim));
    m->rejected = calloc(SHOWN, sizeof(Rejection));
    if (!m->gauges || !m->pools || !m->stages || !m->series || !m->registers || !m->lets || !m->claims || !m->rejected)
        m->status = LEAVE;
    while (m->status == MORE && m->room < slots) make_slots(m);
    return m;
}

/* Handle up to `events` events; MORE: more events, or more sessions have to be fed. */
int64_t serq_run(Run *m, int64_t events)
{
    if (!m->begun) begin(m);
    for (; events && m->status == MORE; events--) {
        double soon = next_at(m);
        if (!(soon <= m->horizon) || m->drained) return OVER;
        if (!MADE_HERE && soon == m->arrive_at && m->fed + 1 >= m->fed_end) return MORE;
        handle(m, soon);
        if (m->ready || POOLS) settle(m);
        if (next_at(m) != soon) close_instant(m);
    }
    return m->status;
}

/* Averages up to the end, which is `now`. */
void serq_close(Run *m)
{
    if (!m->idle) tally_iteration(m);
    for (int d = 0; d < STAGES; d++) settle_stage(m, d);
    for (int p = 0; p < POOLS; p++) settle_pool(m, p);
    change_live(m, 0);
}

void serq_destroy(Run *m)
{
    if (!m) return;
    for (int k = 0; m->series && k < SERIES; k++) free(m->series[k].samples);
    for (int k = 0; m->gauges && k < GAUGES; k++) free(m->gauges[k].samples);
    void *arrays[] = {
        m->sessions, m->attributes, m->parts, m->pools, m->stages, m->entries, m->heap, m->series, m->gauges,
        m->gaps, m->registers, m->lets, m->claims, m->rejected, m->stuck, m->free_list, m->ready_list, m->order_list,
        m->batch_list, m->scratch_list, m->newcomer_list,
    };
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
    free(m);
}
