import assert from 'node:assert/strict'
import fc from 'fast-check'
import { accountKey, committed } from '../../../../../src/domain/gateway/limits/accounts.js'
import type { Json } from '../../../../../src/kernel/json/json.js'
import type { GatewayCall, Outcome } from '../../../../../src/domain/gateway/limits/gateway-call.js'
import { Ledger } from '../../../../../src/domain/gateway/limits/ledger.js'
import { snapshotIn, snapshotJson, type Snapshot } from '../../../../../src/domain/gateway/limits/snapshot.js'
import type { TeamLimits } from '../../../../../src/domain/gateway/limits/limits.js'
import { Limiter, type Permit } from '../../../../../src/domain/gateway/limits/limiter.js'
import { scopeText, TEAM, type LimitScope } from '../../../../../src/domain/gateway/limits/scope.js'
import type { RecordedEvent } from '../../../../../src/kernel/ports/event-store.js'
import { decimalText } from '../../../../../src/domain/prices/decimal.js'
import { COUNTS } from '../../../../counts.js'
import { aCall, ended, ONE, recorded, started, usedTokens } from './given.js'

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
      reached: [],
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
  readonly permit: Permit
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
    arbitrary: fc.record({ do: fc.constantFrom('begin-in-vain', 'begin-unknown' as const), which }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
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
  limiter = new Limiter(this.ledger, 1, () => 0)
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
        return this.begin(deed.do, deed.which)
      case 'end':
        return this.end(deed.which, deed.used, deed.owed)
      case 'give-up': {
        const begun = this.running.filter(({ hasBegun }) => hasBegun).map(({ call }) => call)
        const open = [...this.ledger.abandoned(), ...begun]
        const call = open[deed.which % Math.max(1, open.length)]
        if (call !== undefined && !this.isEnded(call)) this.write(ended(call, null))
        return
      }
      case 'read':
        return this.readOn(deed.events)
      case 'keep': {
        const text = JSON.stringify(snapshotJson({ teams: [], ledger: this.ledger.content() }))
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
    const permit = this.limiter.admit(LIMITS, call, 1)
    if (permit.kind === 'permit') this.running.push({ call, permit, hasBegun: false })
  }

  private begin(how: string, which: number): void {
    const waiting = this.running.filter(({ hasBegun }) => !hasBegun)
    const one = waiting[which % Math.max(1, waiting.length)]
    if (one === undefined) return
    if (how !== 'begin-in-vain') this.write(started(one.call))
    if (how === 'begin') one.hasBegun = true
    else {
      this.running = this.running.filter((other) => other !== one)
      if (how === 'begin-unknown') {
        this.write(ended(one.call, null, { owed: false }))
        one.permit.settle({ kind: 'not-charged' })
      } else one.permit.cancel()
    }
  }

  private end(which: number, used: number | null, owed: boolean): void {
    const begun = this.running.filter(({ hasBegun }) => hasBegun)
    const one = begun[which % Math.max(1, begun.length)]
    if (one === undefined) return
    this.running = this.running.filter((other) => other !== one)
    const prompt = used === null ? null : Math.min(used, Number(one.call.reserved / ONE))
    const wasEnded = this.isEnded(one.call)
    if (wasEnded) return
    this.write(ended(one.call, prompt, { owed }))
    one.permit.settle(outcomeOf(prompt, owed))
  }

  /** What was not written is lost; the log is read to its end before anything else is let through. */
  private restart(fromNothing: boolean): void {
    const from = fromNothing ? undefined : this.kept
    this.ledger = new Ledger(from?.snapshot.ledger)
    this.limiter = new Limiter(this.ledger, 1, () => 0)
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
  if (prompt === null) return { kind: owed ? 'unknown' : 'not-charged' }
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
          const { accounts, open, unknown } = ledger.content()
          return {
            sums: new Map(accounts.flatMap(({ key, sums }) => (committed(sums) === 0n ? [] : [[key, sums]]))),
            open: new Map(open.map((call) => [call.stream, call])),
            unknown: new Map(unknown.map((call) => [call.stream, call])),
          }
        }
        assert.deepEqual(plain(world.ledger), plain(byLog))
      }),
      { numRuns: COUNTS.budgets },
    )
  })
})
