import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { startChild } from './support/child.js'
import { p99, ratio } from './support/report.js'
import { flagsBeforeTypeScript } from './support/service-flags.js'
import type { Phase, Team, Waits } from './support/team-beside.js'

/**
 * How much longer does a team wait for its first attempts while 300 webhooks of another team hang and 8 have names that
 * lead nowhere? Once while they hang, with a few messages each that wait, and once while each gets a further event a second,
 * which is three times the deliveries: there also beside as many webhooks that answer, to tell what hangs from what is
 * much. Dispatchers, each in a process of its own, in turn. Beside the times, which a busy machine and the collector of
 * garbage blur, the last percent above all: how much the process works, and how many deliveries of the other team are
 * scheduled between an event and its attempt.
 */

/** Short, so that what else a machine does for some seconds meets all that is compared. */
const SECONDS = Number(process.env['SECONDS'] ?? 1)
const ROUNDS = Number(process.env['ROUNDS'] ?? 80)
/** As long as it takes until the code is compiled that runs often. */
const WARM_UP_SECONDS = 16
const HANGING = 300
const NOWHERE = 8
const GOAL = 1.1
/**
 * The young generation grows with what was made: to all of it within minutes in a process with little to do, at once in one
 * with much. What it is when it has grown, it is from the beginning here, or its pauses would be what is compared.
 */
const GROWN = '--min-semi-space-size=64'

const fast = await startChild('bench/support/fast-receivers.ts', {})
const hanging = await startChild('bench/support/hanging-receivers.ts', {})
const { port } = new URL(hanging.address)

const started = (slow: readonly string[]) => {
  const team: Team = { receiver: `${fast.address}/hook`, slow }
  const child = fork('bench/support/team-beside.ts', {
    execArgv: [GROWN, ...flagsBeforeTypeScript],
    env: { ...process.env, UV_THREADPOOL_SIZE: '12', TEAM: JSON.stringify(team) },
  })
  return {
    phase: async (slowEvents: Phase['slowEvents']): Promise<Waits> => {
      child.send({ seconds: SECONDS, slowEvents } satisfies Phase)
      const [waits] = (await once(child, 'message')) as [Waits]
      return waits
    },
    stop: async () => {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
const alone = started([])
const hosts = (count: number, atPort: string) =>
  Array.from({ length: count }, (_, n) => `http://127.1.${n >> 7}.${(n & 127) + 1}:${atPort}/hook`)
const beside = started([
  ...hosts(HANGING, port),
  ...Array.from({ length: NOWHERE }, (_, n) => `http://nowhere-${n}.invalid/hook`),
])
const besideAnswering = started(hosts(HANGING + NOWHERE, new URL(fast.address).port))

const waited = (rounds: readonly Waits[]) => rounds.flatMap(({ between }) => between.map((one) => one.waited))
const workedIn = (rounds: readonly Waits[]) =>
  rounds.flatMap(({ between }) => between.map((one) => one.worked))
const sum = (counts: readonly number[]) => counts.reduce((before, count) => before + count, 0)
const shown = (value: number) => value.toFixed(1)
const shares = (rounds: readonly Waits[]) => {
  const sorted = waited(rounds).sort((a, b) => a - b)
  return [0.5, 0.9, 0.95, 0.99].map((part) => shown(sorted[Math.ceil(sorted.length * part) - 1]!)).join(', ')
}

const compared = async (
  what: string,
  slowEvents: Phase['slowEvents'],
  other: { readonly name: string; readonly phase: typeof alone.phase },
): Promise<void> => {
  const others: Waits[] = []
  const withSlow: Waits[] = []
  const sides = [
    { rounds: others, phase: other.phase },
    { rounds: withSlow, phase: beside.phase },
  ]
  // Each as often behind the other as before it.
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { rounds, phase } of round % 2 === 0 ? sides : sides.toReversed())
      rounds.push(await phase(slowEvents))
  const times = p99(waited(withSlow)) / p99(waited(others))
  /** The same of as many rounds, drawn anew: how far chance alone moves it. */
  const drawn = Array.from({ length: 400 }, () => {
    const rounds = others.map(() => Math.floor(Math.random() * ROUNDS))
    return p99(waited(rounds.map((n) => withSlow[n]!))) / p99(waited(rounds.map((n) => others[n]!)))
  }).sort((a, b) => a - b)
  const overtaken = withSlow.flatMap((waits) => waits.overtaken)
  ratio(
    `p99 of another team beside ${HANGING} hanging webhooks ${what} ÷ ${other.name}`,
    times,
    `<= ${GOAL}`,
    times <= GOAL,
    `of ${waited(others).length} each: p50, 90, 95, 99 ${shares(others)} ms ${other.name}, ${shares(withSlow)} ms beside; ` +
      `90 % of draws ${drawn[20]!.toFixed(2)} to ${drawn[379]!.toFixed(2)}; ` +
      `work in between: p99 ${shown(p99(workedIn(others)))} ms ${other.name}, ${shown(p99(workedIn(withSlow)))} ms beside; ` +
      `attempts of theirs that ended meanwhile: ${sum(withSlow.map(({ endedOfOthers }) => endedOfOthers))}; ` +
      `scheduled in between: p99 ${p99(overtaken)}, at most ${Math.max(...overtaken)}; ` +
      `load average ${loadavg()[0]!.toFixed(1)}`,
  )
}

console.log(`until it is known of all ${HANGING} that they hang, a minute or two pass`)
for (let round = 0; round * SECONDS < WARM_UP_SECONDS; round += 1) {
  for (const child of [alone, beside, besideAnswering]) await child.phase('each second')
}
const without = { name: 'without', phase: alone.phase }
const answering = { name: 'as many that answer', phase: besideAnswering.phase }
await compared('with messages that wait', 'never', without)
await compared('with a further event a second each', 'each second', without)
await compared('with a further event a second each', 'each second', answering)
for (const child of [alone, beside, besideAnswering, fast, hanging]) await child.stop()
