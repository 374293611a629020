import { scopesOf, scopeText } from '../limit/scope.js'
import type { RecordedEvent } from '../ports/event-store.js'
import { Account, accountKey, NO_MONEY, periodIn, type Sums } from './account.js'
import { costOf } from './charge.js'
import { begunIn, outcomeIn, teamOf, type BegunCall, type Outcome } from './gateway-call.js'
import { periodOf } from './periods.js'

/** A completion that the log has not seen to its end yet. */
interface Standing {
  call: BegunCall
  accounts: readonly Account[]
  /** What it holds or costs by the log, and as far as this process knows by itself: nothing, while undefined. */
  logged: Sums | undefined
  own: Sums | undefined
  hasEnded: boolean
  /** Whether this process is at work on it, and ends it itself. */
  isHere: boolean
}

/** What was spent and what is held, as plain values, by the log up to a position. */
export interface LedgerContent {
  readonly accounts: readonly {
    readonly key: string
    readonly sums: Sums
    readonly calls: readonly string[]
  }[]
  readonly open: readonly BegunCall[]
}

/**
 * The money of completions: a fold of the log, in which this process's own completions stand before their events are
 * read back. A completion is known by its stream; whatever is said of it twice counts once, and what the log says
 * of it in the end is what stands.
 */
export class Ledger {
  private readonly accounts = new Map<string, Account>()
  private readonly standings = new Map<string, Standing>()

  constructor({ accounts, open }: LedgerContent = { accounts: [], open: [] }) {
    for (const { key, sums, calls } of accounts) {
      const account = this.account(key)
      account.logged = account.now = sums
      account.calls.push(...calls)
    }
    for (const call of open) {
      const logged = held(call)
      this.standings.set(call.stream, { ...this.standing(call), logged })
    }
  }

  /** Holds what a completion may cost, before anything of it is written. */
  reserve(call: BegunCall): void {
    const standing = this.standing(call)
    this.standings.set(call.stream, standing)
    standing.isHere = true
    this.change(standing, () => (standing.own = held(call)))
    for (const account of standing.accounts) account.note(call.stream)
  }

  /** It was not written that a completion began: it never will. */
  release(stream: string): void {
    const standing = this.standings.get(stream)
    if (standing === undefined) return
    standing.isHere = false
    this.change(standing, () => (standing.own = undefined))
    if (standing.logged === undefined) this.standings.delete(stream)
  }

  /** It is written what a completion came to. */
  settle(stream: string, outcome: Outcome): void {
    const standing = this.standings.get(stream)
    if (standing === undefined) return
    this.change(standing, () => {
      standing.own = owed(standing.call, outcome)
      standing.hasEnded = true
    })
  }

  /** This process is done with it, and does not know whether it began, or what it came to. */
  lose(stream: string): void {
    const standing = this.standings.get(stream)
    if (standing !== undefined) standing.isHere = false
  }

  /** The next event of the log; the completion that it is about, where it is one's. */
  take(event: RecordedEvent): BegunCall | undefined {
    const known = this.standings.get(event.stream)
    if (known === undefined) {
      const call = begunIn(event)
      if (call === undefined) return undefined
      const standing = this.standing(call)
      this.standings.set(call.stream, standing)
      this.change(standing, () => (standing.logged = held(call)))
      for (const account of standing.accounts) account.note(call.stream)
      return call
    }
    const outcome = outcomeIn(event)
    if (outcome !== undefined) {
      this.change(known, () => {
        known.logged = owed(known.call, outcome)
        known.own = undefined
      })
      this.standings.delete(event.stream)
    } else if (known.logged === undefined && begunIn(event) !== undefined)
      this.change(known, () => (known.logged = held(known.call)))
    return known.call
  }

  /** As this process knows it now. */
  sums(key: string): Sums {
    return this.accounts.get(key)?.now ?? NO_MONEY
  }

  /** Streams of the calls that were put on an account last, the newest first. */
  lastCalls(key: string): readonly string[] {
    return [...(this.accounts.get(key)?.calls ?? [])].reverse()
  }

  /** The completions that the log has begun and not ended, and that this process is not at work on. */
  *open(): Generator<BegunCall> {
    for (const { call, logged, hasEnded, isHere } of this.standings.values())
      if (logged !== undefined && !hasEnded && !isHere) yield call
  }

  /** Those of which the log has not said that they began, and that this process is done with. */
  *unbegun(): Generator<BegunCall> {
    for (const { call, logged, hasEnded, isHere } of this.standings.values())
      if (logged === undefined && !hasEnded && !isHere) yield call
  }

  /** By the log alone; without what no budget asks for any more, those periods that are not among `current`. */
  content(current: ReadonlySet<string>): LedgerContent {
    for (const [key, { logged, now }] of this.accounts)
      if (logged.reserved === 0n && now.reserved === 0n && !current.has(periodIn(key)))
        this.accounts.delete(key)
    return {
      accounts: [...this.accounts.values()].map(({ key, logged, calls }) => ({ key, sums: logged, calls })),
      open: [...this.standings.values()].flatMap(({ call, logged }) => (logged === undefined ? [] : [call])),
    }
  }

  private standing(call: BegunCall): Standing {
    const accounts = keysOf(call).map((key) => this.account(key))
    return { call, accounts, logged: undefined, own: undefined, hasEnded: false, isHere: false }
  }

  private account(key: string): Account {
    const known = this.accounts.get(key)
    if (known !== undefined) return known
    const account = new Account(key)
    this.accounts.set(key, account)
    return account
  }

  private change(standing: Standing, make: () => void): void {
    const before = { logged: standing.logged ?? NO_MONEY, now: nowOf(standing) }
    make()
    for (const account of standing.accounts) {
      account.move('logged', before.logged, standing.logged ?? NO_MONEY)
      account.move('now', before.now, nowOf(standing))
    }
  }
}

/** Own knowledge is ahead of the log until that tells the end. */
const nowOf = ({ own, logged }: Standing): Sums => own ?? logged ?? NO_MONEY

const held = ({ reserved }: BegunCall): Sums => ({ ...NO_MONEY, reserved })

const owed = (call: BegunCall, outcome: Outcome): Sums => {
  switch (outcome.kind) {
    case 'used': {
      const price = outcome.price === undefined ? call.price : outcome.price
      return { ...NO_MONEY, spent: costOf(price, outcome.tokens) }
    }
    case 'not-owed':
      return NO_MONEY
    case 'unknown':
      return { ...NO_MONEY, unknown: call.reserved }
    default:
      return outcome satisfies never
  }
}

/** The accounts that a completion counts in: of its team, its project and its key, of the day and of the month. */
export const keysOf = (call: Pick<BegunCall, 'project' | 'keyId' | 'admittedAt'>): readonly string[] =>
  scopesOf(call.project, call.keyId).flatMap((scope) =>
    (['day', 'month'] as const).map((kind) =>
      accountKey(teamOf(call), scopeText(scope), periodOf(kind, call.admittedAt)),
    ),
  )
