import { scopesOf, scopeText } from '../limits/scope.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import { Account, accountKey, NO_MONEY, periodIn, type Sums } from './account.js'
import { costOf } from './charge.js'
import { gatewayCallIn, outcomeIn, teamOf, type GatewayCall, type Outcome } from './gateway-call.js'
import { periodOf } from './periods.js'

/** A completion whose end has not been read from the log yet. */
interface OpenCompletion {
  call: GatewayCall
  accounts: readonly Account[]
  /** Its cost or reservation as of the log, and as known to this process; undefined for none. */
  logged: Sums | undefined
  own: Sums | undefined
  hasEnded: boolean
  /** Whether this process is still running it and will end it. */
  isHere: boolean
}

/** Serialisable state as of a log position. */
export interface LedgerContent {
  readonly accounts: readonly {
    readonly key: string
    readonly sums: Sums
    readonly calls: readonly string[]
  }[]
  readonly open: readonly GatewayCall[]
}

/**
 * The costs of completions: a fold of the log, ahead of which it counts this process's own completions. A completion
 * is identified by its stream, so repeats count once. Once the log has its end, the log decides.
 */
export class Ledger {
  private readonly accounts = new Map<string, Account>()
  private readonly completions = new Map<string, OpenCompletion>()

  constructor({ accounts, open }: LedgerContent = { accounts: [], open: [] }) {
    for (const { key, sums, calls } of accounts) {
      const account = this.account(key)
      account.logged = account.now = sums
      account.calls.push(...calls)
    }
    for (const call of open) {
      const logged = held(call)
      this.completions.set(call.stream, { ...this.completion(call), logged })
    }
  }

  /** Reserves the maximum cost of a completion before its start is written. */
  reserve(call: GatewayCall): void {
    const completion = this.completion(call)
    this.completions.set(call.stream, completion)
    completion.isHere = true
    this.change(completion, () => (completion.own = held(call)))
    for (const account of completion.accounts) account.note(call.stream)
  }

  /** Releases the reservation of a completion whose start was not written and never will be. */
  release(stream: string): void {
    const completion = this.completions.get(stream)
    if (completion === undefined) return
    completion.isHere = false
    this.change(completion, () => (completion.own = undefined))
    if (completion.logged === undefined) this.completions.delete(stream)
  }

  /** Records the result once the end is written. */
  settle(stream: string, outcome: Outcome): void {
    const completion = this.completions.get(stream)
    if (completion === undefined) return
    this.change(completion, () => {
      completion.own = owed(completion.call, outcome)
      completion.hasEnded = true
    })
  }

  /** This process stopped running it without knowing whether the start or the end was written. */
  lose(stream: string): void {
    const completion = this.completions.get(stream)
    if (completion !== undefined) completion.isHere = false
  }

  /** Folds one event; returns the completion it belongs to. */
  take(event: RecordedEvent): GatewayCall | undefined {
    const known = this.completions.get(event.stream)
    if (known === undefined) {
      const call = gatewayCallIn(event)
      if (call === undefined) return undefined
      const completion = this.completion(call)
      this.completions.set(call.stream, completion)
      this.change(completion, () => (completion.logged = held(call)))
      for (const account of completion.accounts) account.note(call.stream)
      return call
    }
    const outcome = outcomeIn(event)
    if (outcome !== undefined) {
      this.change(known, () => {
        known.logged = owed(known.call, outcome)
        known.own = undefined
      })
      this.completions.delete(event.stream)
    } else if (known.logged === undefined && gatewayCallIn(event) !== undefined)
      this.change(known, () => (known.logged = held(known.call)))
    return known.call
  }

  /** Costs as known to this process. */
  sums(key: string): Sums {
    return this.accounts.get(key)?.now ?? NO_MONEY
  }

  /** Streams of an account's newest calls, newest first. */
  lastCalls(key: string): readonly string[] {
    return [...(this.accounts.get(key)?.calls ?? [])].reverse()
  }

  /** Completions started in the log, not ended, and not run by this process. */
  *open(): Generator<GatewayCall> {
    for (const { call, logged, hasEnded, isHere } of this.completions.values())
      if (logged !== undefined && !hasEnded && !isHere) yield call
  }

  /** Completions whose start is not in the log and that this process no longer runs. */
  *withoutStart(): Generator<GatewayCall> {
    for (const { call, logged, hasEnded, isHere } of this.completions.values())
      if (logged === undefined && !hasEnded && !isHere) yield call
  }

  /** State as of the log alone. Drops accounts of periods not in `current`. */
  content(current: ReadonlySet<string>): LedgerContent {
    for (const [key, { logged, now }] of this.accounts)
      if (logged.reserved === 0n && now.reserved === 0n && !current.has(periodIn(key)))
        this.accounts.delete(key)
    return {
      accounts: [...this.accounts.values()].map(({ key, logged, calls }) => ({ key, sums: logged, calls })),
      open: [...this.completions.values()].flatMap(({ call, logged }) =>
        logged === undefined ? [] : [call],
      ),
    }
  }

  private completion(call: GatewayCall): OpenCompletion {
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

  private change(completion: OpenCompletion, make: () => void): void {
    const before = { logged: completion.logged ?? NO_MONEY, now: nowOf(completion) }
    make()
    for (const account of completion.accounts) {
      account.move('logged', before.logged, completion.logged ?? NO_MONEY)
      account.move('now', before.now, nowOf(completion))
    }
  }
}

/** This process's knowledge is newer than the log until the end is read. */
const nowOf = ({ own, logged }: OpenCompletion): Sums => own ?? logged ?? NO_MONEY

const held = ({ reserved }: GatewayCall): Sums => ({ ...NO_MONEY, reserved })

const owed = (call: GatewayCall, outcome: Outcome): Sums => {
  switch (outcome.kind) {
    case 'used': {
      const price = outcome.price === undefined ? call.price : outcome.price
      return { ...NO_MONEY, spent: costOf(price, outcome.used) }
    }
    case 'not-owed':
      return NO_MONEY
    case 'unknown':
      return { ...NO_MONEY, unknown: call.reserved }
    default:
      return outcome satisfies never
  }
}

/** The keys of the accounts a completion is charged to: team, project and key, each by day and by month. */
export const keysOf = (call: Pick<GatewayCall, 'project' | 'keyId' | 'admittedAt'>): readonly string[] =>
  scopesOf(call.project, call.keyId).flatMap((scope) =>
    (['day', 'month'] as const).map((kind) =>
      accountKey(teamOf(call), scopeText(scope), periodOf(kind, call.admittedAt)),
    ),
  )
