import assert from 'node:assert/strict'
import fc from 'fast-check'
import { accountKey, committed } from '../../../../../src/domain/gateway/budgets/account.js'
import type { Json } from '../../../../../src/kernel/json/json.js'
import type { GatewayCall, Outcome } from '../../../../../src/domain/gateway/budgets/gateway-call.js'
import { Ledger } from '../../../../../src/domain/gateway/budgets/ledger.js'
import {
  snapshotIn,
  snapshotJson,
  type Snapshot,
} from '../../../../../src/domain/gateway/budgets/snapshot.js'
import type { TeamLimits } from '../../../../../src/domain/gateway/limits/decider.js'
import { Gate, type Admitted } from '../../../../../src/domain/gateway/limits/gate.js'
import { scopeText, TEAM, type LimitScope } from '../../../../../src/domain/gateway/limits/scope.js'
import type { RecordedEvent } from '../../../../../src/kernel/ports/event-store.js'
import { decimalText } from '../../../../../src/domain/prices/decimal.js'
import { COUNTS } from '../../../../counts.js'
import { aCall, ended, ONE, recorded, started, usedTokens } from './given.js'

const DAY = new Set(['2026-11-21', '2026-11'])

const scoped: readonly (readonly [LimitScope, bigint])[] = [
  [TEAM, 100n],
  [{ type: 'project', project: 'project', key: null }, 60n],
  [{ type: 'key', project: null, key: 'key-1' }, 40n],
]
const LIMITS: TeamLimits = new Map(
  scoped.map(([scope, amount]) => [
    scopeText(scope),
    {
      scope,
      reached: null,
      content: {
        requests_per_minute: null,
        tokens_per_minute: null,
        concurrency: null,
        budget: { amount: decimalText(amount * ONE), period: 'month' },
      },
    },
  ]),
)

/** A completion under way in this process. */
interface Running {
  readonly call: GatewayCall
  readonly admitted: Admitted
  hasBegun: boolean
}

const which = fc.nat(20)
const arbitraryDeed = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      project: fc.constantFrom('team/project', 'team/other'),
      keyId: fc.constantFrom('key-1', 'key-2'),
      reserved: fc.bigInt(0n, 15n),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('begin' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('begin-in-vain', 'begin-unknown', 'begin-unknown-in-vain' as const),
      which,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('end', 'end', 'end', 'end-unacknowledged' as const),
      which,
      used: fc.option(fc.nat(6), { freq: 8 }),
      owed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('give-up' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), events: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('keep' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), fromNothing: fc.boolean() }) },
)
type Deed = typeof arbitraryDeed extends fc.Arbitrary<infer A> ? A : never

/** A process that lets completions through, over a log, with everything that may happen to it. */
class World {
  readonly log: RecordedEvent[] = []
  ledger = new Ledger()
  gate = new Gate(this.ledger, 1)
  private read = 0
  private kept: { readonly snapshot: Snapshot; readonly read: number } | undefined
  private running: Running[] = []
  private calls = 0

  do(deed: Deed): void {
    switch (deed.do) {
      case 'admit':
        return this.admit(deed)
      case 'begin':
      case 'begin-in-vain':
      case 'begin-unknown':
      case 'begin-unknown-in-vain':
        return this.begin(deed.do, deed.which)
      case 'end':
      case 'end-unacknowledged':
        return this.end(deed.do === 'end', deed.which, deed.used, deed.owed)
      case 'give-up': {
        const begun = this.running.filter(({ hasBegun }) => hasBegun).map(({ call }) => call)
        const open = [...this.ledger.open(), ...begun]
        const call = open[deed.which % Math.max(1, open.length)]
        if (call !== undefined && !this.isEnded(call)) this.write(ended(call, null))
        return
      }
      case 'read':
        return this.readOn(deed.events)
      case 'keep': {
        const text = JSON.stringify(snapshotJson({ teams: [], ledger: this.ledger.content(DAY) }))
        const snapshot = snapshotIn(JSON.parse(text) as Json)
        assert.ok(snapshot)
        this.kept = { snapshot, read: this.read }
        return
      }
      case 'restart':
        return this.restart(deed.fromNothing)
      default:
        return deed satisfies never
    }
  }

  readOn(events = Infinity): void {
    for (const event of this.log.slice(this.read, this.read + events)) this.ledger.take(event)
    this.read = Math.min(this.log.length, this.read + events)
  }

  private admit({ project, keyId, reserved }: Extract<Deed, { readonly do: 'admit' }>): void {
    const call = aCall(`c${(this.calls += 1)}`, { project, keyId, reserved: reserved * ONE })
    const admitted = this.gate.admit(LIMITS, call, 1, 0)
    if (admitted.kind === 'admitted') this.running.push({ call, admitted, hasBegun: false })
  }

  private begin(how: string, which: number): void {
    const waiting = this.running.filter(({ hasBegun }) => !hasBegun)
    const one = waiting[which % Math.max(1, waiting.length)]
    if (one === undefined) return
    if (!how.endsWith('in-vain')) this.write(started(one.call))
    if (how === 'begin') one.hasBegun = true
    else {
      this.running = this.running.filter((other) => other !== one)
      if (how === 'begin-in-vain') one.admitted.withdraw()
      else one.admitted.leave(null)
    }
  }

  private end(isAcknowledged: boolean, which: number, used: number | null, owed: boolean): void {
    const begun = this.running.filter(({ hasBegun }) => hasBegun)
    const one = begun[which % Math.max(1, begun.length)]
    if (one === undefined) return
    this.running = this.running.filter((other) => other !== one)
    const prompt = used === null ? null : Math.min(used, Number(one.call.reserved / ONE))
    const wasEnded = this.isEnded(one.call)
    if (!wasEnded) this.write(ended(one.call, prompt, { owed }))
    one.admitted.leave(isAcknowledged && !wasEnded ? outcomeOf(prompt, owed) : null)
  }

  /** What was not written is lost; the log is read to its end before anything else is let through. */
  private restart(fromNothing: boolean): void {
    const from = fromNothing ? undefined : this.kept
    this.ledger = new Ledger(from?.snapshot.ledger)
    this.gate = new Gate(this.ledger, 1)
    this.read = from?.read ?? 0
    this.running = []
    this.readOn()
  }

  private write(event: Parameters<typeof recorded>[0]): void {
    this.log.push(recorded(event, this.log.length + 1))
  }

  private isEnded({ stream }: GatewayCall): boolean {
    return this.log.some((event) => event.type === 'CallEnded' && event.stream === stream)
  }
}

const outcomeOf = (prompt: number | null, owed: boolean): Outcome => {
  if (prompt === null) return { kind: owed ? 'unknown' : 'not-owed' }
  return { kind: 'used', used: usedTokens(prompt) }
}

const accountOf = (scope: LimitScope) => accountKey('team', scopeText(scope), '2026-11')

describe('budgets', () => {
  it('are never exceeded by what is let through, whatever is done in whatever order', () => {
    let admitted = 0
    fc.assert(
      fc.property(fc.array(arbitraryDeed, { maxLength: 120, size: 'max' }), (deeds) => {
        const world = new World()
        for (const deed of deeds) {
          world.do(deed)
          for (const [scope, amount] of scoped) {
            const sums = world.ledger.sums(accountOf(scope))
            assert.ok(committed(sums) <= amount * ONE, `${scopeText(scope)} after ${deed.do}`)
            for (const sum of Object.values(sums)) assert.ok(sum >= 0n)
          }
          // What the log itself says, to its end, is within the budget too.
          const byLog = new Ledger()
          for (const event of world.log) byLog.take(event)
          for (const [scope, amount] of scoped)
            assert.ok(committed(byLog.sums(accountOf(scope))) <= amount * ONE)
        }
        admitted += world.log.length
      }),
      { numRuns: COUNTS.budgets },
    )
    assert.ok(admitted > 10 * COUNTS.budgets, 'too little was let through to say anything')
  })

  it('stand as the log has them once it was read, whatever was kept and lost on the way', () => {
    fc.assert(
      fc.property(fc.array(arbitraryDeed, { maxLength: 80, size: 'max' }), (deeds) => {
        const world = new World()
        for (const deed of deeds) world.do(deed)
        world.readOn()
        const byLog = new Ledger()
        for (const event of world.log) byLog.take(event)
        const plain = (ledger: Ledger) => {
          const { accounts, open } = ledger.content(DAY)
          const sums = accounts.filter(
            ({ sums: { spent, reserved, unknown } }) => spent + reserved + unknown > 0n,
          )
          return {
            sums: new Map(sums.map((account) => [account.key, account.sums])),
            open: new Map(open.map((call) => [call.stream, call])),
          }
        }
        assert.deepEqual(plain(world.ledger), plain(byLog))
      }),
      { numRuns: COUNTS.budgets },
    )
  })
})
