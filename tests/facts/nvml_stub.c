/* A libnvidia-ml.so.1 for machines without a GPU: the real binding loads it, environment variables say what it answers.
 *
 * STUB_INIT      nvmlReturn_t of nvmlInit (0)
 * STUB_COUNT     number of cards (1)
 * STUB_FAIL      "Name=15,Name=3": functions (without "nvml") that return a code; "Name#1=15" only for card 1
 * STUB_LOG       file that gets a line for each init and shutdown
 * STUB_SM        "90,70": the driver's own samples of utilisation that are new at each call (unset: not supported)
 * STUB_PROCESSES "pid:MiB:kind:name;…", kind C, G or B (both); MiB -1: not told
 * others         one value, or one for each card separated by "|"; see the calls of value() below
 *
 * -DOLD_DRIVER leaves out functions as old drivers lack them: some that have an older form, and one that has none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int index; } Card;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned gpu, memory; } Utilization;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } Process;
typedef struct { unsigned long long at; union { double number; unsigned plain; unsigned long long whole; } value; } Sample;
typedef struct { unsigned version; int sensor; int temperature; } Temperature;

static Card cards[16];

/* The part of a variable that belongs to a card, or the usual value. */
static const char *value(const char *name, const char *usual, int card) {
    static char part[512];
    const char *text = getenv(name), *end;
    size_t length;
    if (!text) return usual;
    while (card-- > 0 && strchr(text, '|')) text = strchr(text, '|') + 1;
    end = strchr(text, '|');
    length = end ? (size_t)(end - text) : strlen(text);
    if (length >= sizeof part) length = sizeof part - 1;
    memcpy(part, text, length);
    part[length] = 0;
    return part;
}

static long long number(const char *name, const char *usual, int card) { return strtoll(value(name, usual, card), 0, 0); }

/* The code STUB_FAIL has for a function, 0 for none. */
static int fails(const char *name, int card) {
    const char *text = getenv("STUB_FAIL");
    char plain[128], numbered[128];
    snprintf(plain, sizeof plain, "%s=", name);
    snprintf(numbered, sizeof numbered, "%s#%d=", name, card);
    while (text && *text) {
        if (!strncmp(text, plain, strlen(plain))) return atoi(text + strlen(plain));
        if (!strncmp(text, numbered, strlen(numbered))) return atoi(text + strlen(numbered));
        text = strchr(text, ',');
        if (text) text++;
    }
    return 0;
}

static void note(const char *word) {
    FILE *log = getenv("STUB_LOG") ? fopen(getenv("STUB_LOG"), "a") : 0;
    if (log) { fprintf(log, "%s\n", word); fclose(log); }
}

#define CHECK(name, card) do { int code = fails(name, card); if (code) return code; } while (0)

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    int code = (int)number("STUB_INIT", "0", 0);
    if (!code) note("init");
    return code;
}
int nvmlShutdown(void) { note("shutdown"); return 0; }
const char *nvmlErrorString(int code) { (void)code; return "words of the driver"; }

int nvmlSystemGetDriverVersion(char *out, unsigned size) {
    CHECK("SystemGetDriverVersion", 0);
    snprintf(out, size, "%s", value("STUB_DRIVER", "580.95.05", 0));
    return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int *out) {
    CHECK("SystemGetCudaDriverVersion", 0);
    *out = (int)number("STUB_CUDA", "13000", 0);
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned *out) {
    CHECK("DeviceGetCount", 0);
    *out = (unsigned)number("STUB_COUNT", "1", 0);
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Card **out) {
    if (index >= (unsigned)number("STUB_COUNT", "1", 0) || index >= 16) return 2;
    CHECK("DeviceGetHandleByIndex", (int)index);
    cards[index].index = (int)index;
    *out = &cards[index];
    return 0;
}

int nvmlDeviceGetName(Card *card, char *out, unsigned size) {
    CHECK("DeviceGetName", card->index);
    snprintf(out, size, "%s", value("STUB_NAME", "NVIDIA GeForce RTX 3090", card->index));
    return 0;
}
int nvmlDeviceGetMemoryInfo(Card *card, Memory *out) {
    CHECK("DeviceGetMemoryInfo", card->index);
    out->total = (unsigned long long)number("STUB_TOTAL_MIB", "24576", card->index) << 20;
    out->used = (unsigned long long)number("STUB_USED_MIB", "512", card->index) << 20;
    out->free = out->total - out->used;
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(Card *card, int *major, int *minor) {
    CHECK("DeviceGetCudaComputeCapability", card->index);
    return sscanf(value("STUB_CC", "8.6", card->index), "%d.%d", major, minor) == 2 ? 0 : 999;
}

#define NUMBER(function, variable, usual) \
    int nvml##function(Card *card, unsigned *out) { \
        CHECK(#function, card->index); \
        *out = (unsigned)number(variable, usual, card->index); \
        return 0; \
    }
NUMBER(DeviceGetPowerUsage, "STUB_POWER_MW", "25000")
NUMBER(DeviceGetPowerManagementLimit, "STUB_LIMIT_MW", "350000")
NUMBER(DeviceGetPowerManagementDefaultLimit, "STUB_DEFAULT_MW", "350000")
NUMBER(DeviceGetCurrPcieLinkGeneration, "STUB_PCIE_GEN", "4")
NUMBER(DeviceGetMaxPcieLinkGeneration, "STUB_PCIE_GEN_MAX", "4")
NUMBER(DeviceGetCurrPcieLinkWidth, "STUB_PCIE_WIDTH", "16")
NUMBER(DeviceGetMaxPcieLinkWidth, "STUB_PCIE_WIDTH_MAX", "16")

int nvmlDeviceGetTemperature(Card *card, int sensor, unsigned *out) {
    (void)sensor;
    CHECK("DeviceGetTemperature", card->index);
    *out = (unsigned)number("STUB_TEMPERATURE", "45", card->index);
    return 0;
}
int nvmlDeviceGetClockInfo(Card *card, int kind, unsigned *out) {
    CHECK("DeviceGetClockInfo", card->index);
    *out = (unsigned)(kind == 2 ? number("STUB_CLOCK_MEMORY", "405", card->index) : number("STUB_CLOCK_SM", "210", card->index));
    return 0;
}
int nvmlDeviceGetMaxClockInfo(Card *card, int kind, unsigned *out) {
    CHECK("DeviceGetMaxClockInfo", card->index);
    *out = (unsigned)(kind == 2 ? number("STUB_MAX_MEMORY", "9751", card->index) : number("STUB_MAX_SM", "2100", card->index));
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Card *card, unsigned long long *out) {
    CHECK("DeviceGetCurrentClocksReasons", card->index);
    *out = (unsigned long long)number("STUB_REASONS", "0x1", card->index);
    return 0;
}

/* GeForce cards have no ECC: STUB_ECC is unset for them. */
int nvmlDeviceGetEccMode(Card *card, int *current, int *pending) {
    CHECK("DeviceGetEccMode", card->index);
    if (!getenv("STUB_ECC")) return 3;
    *current = *pending = (int)number("STUB_ECC", "0", card->index);
    return 0;
}
int nvmlDeviceGetTotalEccErrors(Card *card, int kind, int counter, unsigned long long *out) {
    if (!getenv("STUB_ECC")) return 3;
    /* uncorrected since boot, and nothing else */
    *out = kind == 1 && counter == 0 ? (unsigned long long)number("STUB_ECC_ERRORS", "0", card->index) : 777;
    return 0;
}

static int processes(Card *card, unsigned *count, Process *out, char kind) {
    char text[2048], *place, *entry;
    unsigned found = 0, room = *count;
    snprintf(text, sizeof text, "%s", value("STUB_PROCESSES", "", card->index));
    for (entry = strtok_r(text, ";", &place); entry; entry = strtok_r(0, ";", &place)) {
        unsigned pid;
        long long mib;
        char its;
        if (sscanf(entry, "%u:%lld:%c", &pid, &mib, &its) != 3 || (its != kind && its != 'B')) continue;
        if (out && found < room) {
            memset(&out[found], 0, sizeof *out);
            out[found].pid = pid;
            out[found].used = mib < 0 ? ~0ULL : (unsigned long long)mib << 20;
        }
        found++;
    }
    *count = found;
    return found > room ? 7 : 0;
}

int nvmlDeviceGetComputeRunningProcesses_v2(Card *card, unsigned *count, Process *out) {
    CHECK("DeviceGetComputeRunningProcesses", card->index);
    return processes(card, count, out, 'C');
}
int nvmlDeviceGetGraphicsRunningProcesses_v2(Card *card, unsigned *count, Process *out) {
    CHECK("DeviceGetGraphicsRunningProcesses", card->index);
    return processes(card, count, out, 'G');
}
int nvmlSystemGetProcessName(unsigned pid, char *out, unsigned size) {
    char text[2048], *place, *entry, *name;
    const char *all = getenv("STUB_PROCESSES");
    snprintf(text, sizeof text, "%s", all ? all : "");
    for (entry = strtok_r(text, ";|", &place); entry; entry = strtok_r(0, ";|", &place)) {
        if ((unsigned)atoi(entry) != pid) continue;
        name = strchr(strchr(strchr(entry, ':') + 1, ':') + 1, ':');
        if (!name) break;
        snprintf(out, size, "%s", name + 1);
        return 0;
    }
    return 6; /* not found: a process of the host, seen from a container */
}

int nvmlDeviceGetPcieThroughput(Card *card, int counter, unsigned *out) {
    CHECK("DeviceGetPcieThroughput", card->index);
    *out = (unsigned)(counter == 1 ? number("STUB_PCIE_IN", "0", card->index) : number("STUB_PCIE_OUT", "0", card->index));
    return 0;
}

#ifndef OLD_DRIVER
int nvmlDeviceGetSamples(Card *card, int kind, unsigned long long seen, int *type, unsigned *count, Sample *out) {
    char text[512], *place, *entry;
    unsigned found = 0;
    CHECK("DeviceGetSamples", card->index);
    if (!getenv("STUB_SM")) return 3;
    snprintf(text, sizeof text, "%s", value("STUB_SM", "", card->index));
    for (entry = strtok_r(text, ",", &place); entry; entry = strtok_r(0, ",", &place), found++)
        if (out && found < *count) {
            memset(&out[found], 0, sizeof *out);
            out[found].at = seen + found + 1;
            out[found].value.plain = (unsigned)atoi(entry) / (kind == 2 ? 2 : 1);
        }
    *type = 1;
    *count = found;
    return found ? 0 : 6;
}
int nvmlDeviceGetUtilizationRates(Card *card, Utilization *out) {
    CHECK("DeviceGetUtilizationRates", card->index);
    out->gpu = (unsigned)number("STUB_UTILIZATION", "0", card->index);
    out->memory = 0;
    return 0;
}
int nvmlDeviceGetTemperatureV(Card *card, Temperature *inout) {
    CHECK("DeviceGetTemperature", card->index);
    inout->temperature = (int)number("STUB_TEMPERATURE", "45", card->index);
    return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(Card *card, unsigned long long *out) {
    return nvmlDeviceGetCurrentClocksThrottleReasons(card, out);
}
int nvmlDeviceGetComputeRunningProcesses_v3(Card *card, unsigned *count, Process *out) {
    return nvmlDeviceGetComputeRunningProcesses_v2(card, count, out);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(Card *card, unsigned *count, Process *out) {
    return nvmlDeviceGetGraphicsRunningProcesses_v2(card, count, out);
}
#endif
