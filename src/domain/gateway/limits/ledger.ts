import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import type { CountedCost } from '../../calls/without-figures.js'
import { isWithoutFigures } from '../../../kernel/codec/erasable.js'
import { decimalText } from '../../prices/decimal.js'
import {
  accountKey,
  add,
  committed,
  isDay,
  NO_COST,
  periodIn,
  periodOf,
  subtract,
  type Sums,
} from './accounts.js'
import { costOf } from './charge.js'
import { gatewayCallIn, outcomeIn, teamOf, type GatewayCall, type Outcome } from './gateway-call.js'
import { scopesOf, scopeText } from './scope.js'
import { writtenOffIn } from './write-offs.js'

interface Entry {
  readonly call: GatewayCall
  /** Keys of the accounts that its cost is in. */
  readonly keys: readonly string[]
  cost: Sums
  /** Whether its start was read from the log. */
  isLogged: boolean
  /** Whether this process runs it, or has settled it. */
  isLocal: boolean
}

/** By their number and not by the time, so that completions under a wrong clock displace no other period. */
const KEPT_DAYS = 10
const KEPT_MONTHS = 4

/** Serialisable state as of a log position. */
export interface LedgerContent {
  /** Costs of the completions that are in none of the lists. */
  readonly accounts: readonly { readonly key: string; readonly sums: Sums }[]
  readonly open: readonly GatewayCall[]
  readonly unknown: readonly GatewayCall[]
}

/**
 * Budget sums per scope and period: a fold of gateway call events plus local reservations. Keyed by call stream, so
 * reading an own event back changes nothing.
 */
export class Ledger {
  private readonly accounts = new Map<string, Sums>()
  /** Completions whose end was not read from the log yet. */
  private readonly open = new Map<string, Entry>()
  /** Completions that ended with unknown usage, as long as their month is kept. */
  private readonly unknown = new Map<string, Entry>()

  constructor({ accounts, open, unknown }: LedgerContent = { accounts: [], open: [], unknown: [] }) {
    for (const { key, sums } of accounts) this.accounts.set(key, sums)
    for (const call of open) this.enter(call).isLogged = true
    for (const call of unknown) this.end(this.enter(call), { kind: 'unknown' })
  }

  /** Reserves the maximum cost of a completion before its start is written. */
  reserve(call: GatewayCall): void {
    this.enter(call).isLocal = true
  }

  /** Releases the reservation of a completion that this process does not run, unless its start is in the log. */
  release(stream: string): void {
    const entry = this.open.get(stream)
    if (entry === undefined) return
    entry.isLocal = false
    if (entry.isLogged) return
    this.charge(entry, NO_COST)
    this.open.delete(stream)
  }

  /** Charges the result before its end is read from the log. */
  settle(stream: string, outcome: Outcome): void {
    const entry = this.open.get(stream)
    if (entry !== undefined) this.charge(entry, costOfOutcome(entry.call, outcome))
  }

  /** Folds one event; returns the completion it belongs to. */
  take(event: RecordedEvent): GatewayCall | undefined {
    for (const stream of writtenOffIn(event)) this.writeOff(stream)
    const known = this.open.get(event.stream)
    if (known === undefined || !known.isLogged) {
      const call = gatewayCallIn(event)
      if (call !== undefined) (known ?? this.enter(call)).isLogged = true
      return call
    }
    const outcome = outcomeIn(event)
    if (outcome !== undefined) this.end(known, outcome)
    return known.call
  }

  sums(key: string): Sums {
    return this.accounts.get(key) ?? NO_COST
  }

  /** Completions started in the log, not ended, and not run by this process. */
  abandoned(): readonly GatewayCall[] {
    return [...this.open.values()]
      .filter(({ isLogged, isLocal }) => isLogged && !isLocal)
      .map(({ call }) => call)
  }

  /** Completions of an account that ended with unknown usage. */
  unknownIn(key: string): readonly GatewayCall[] {
    return [...this.unknown.values()].filter(({ keys }) => keys.includes(key)).map(({ call }) => call)
  }

  /** Drops the periods that are neither current nor among the last that completions were admitted in. */
  prune(current: readonly string[]): void {
    const periods = [...new Set([...this.accounts.keys()].map(periodIn))].sort().reverse()
    const kept = new Set([
      ...current,
      ...periods.filter(isDay).slice(0, KEPT_DAYS),
      ...periods.filter((period) => !isDay(period)).slice(0, KEPT_MONTHS),
    ])
    for (const [stream, { keys }] of this.unknown)
      if (!keys.some((key) => kept.has(periodIn(key)))) this.unknown.delete(stream)
    for (const [key, { reserved }] of this.accounts)
      if (reserved === 0n && !kept.has(periodIn(key))) this.accounts.delete(key)
  }

  /** State as of the log alone. */
  content(): LedgerContent {
    const closed = new Map(this.accounts)
    for (const { keys, cost } of [...this.open.values(), ...this.unknown.values()])
      for (const key of keys) if (closed.has(key)) closed.set(key, subtract(closed.get(key)!, cost))
    return {
      accounts: [...closed].map(([key, sums]) => ({ key, sums })),
      open: [...this.open.values()].filter(({ isLogged }) => isLogged).map(({ call }) => call),
      unknown: [...this.unknown.values()].map(({ call }) => call),
    }
  }

  private enter(call: GatewayCall): Entry {
    const entry: Entry = { call, keys: keysOf(call), cost: NO_COST, isLogged: false, isLocal: false }
    this.open.set(call.stream, entry)
    this.charge(entry, { ...NO_COST, reserved: call.reserved })
    return entry
  }

  private end(entry: Entry, outcome: Outcome): void {
    this.charge(entry, costOfOutcome(entry.call, outcome))
    this.open.delete(entry.call.stream)
    if (outcome.kind === 'unknown') this.unknown.set(entry.call.stream, entry)
  }

  private writeOff(stream: string): void {
    const entry = this.unknown.get(stream)
    if (entry === undefined) return
    this.charge(entry, NO_COST)
    this.unknown.delete(stream)
  }

  private charge(entry: Entry, cost: Sums): void {
    for (const key of entry.keys) {
      const isPruned = entry.cost !== NO_COST && !this.accounts.has(key)
      if (!isPruned) this.accounts.set(key, add(subtract(this.sums(key), entry.cost), cost))
    }
    entry.cost = cost
  }
}

const costOfOutcome = (call: GatewayCall, outcome: Outcome): Sums => {
  switch (outcome.kind) {
    case 'used': {
      const price = outcome.price === undefined ? call.price : outcome.price
      return { ...NO_COST, spent: costOf(price, outcome.used) }
    }
    case 'charged':
      return { ...NO_COST, spent: outcome.amount }
    case 'not-charged':
      return NO_COST
    case 'unknown':
      return { ...NO_COST, unknown: call.reserved }
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

/** What budgets count for the completion of a call, from the events of its stream; undefined for other calls. */
export const countedCost = (events: readonly RecordedEvent[]): CountedCost | undefined => {
  const start = events.find((event) => gatewayCallIn(event) !== undefined)
  const call = start && gatewayCallIn(start)
  if (call === undefined) return undefined
  const end = events.find(({ type }) => type === 'CallEnded' || type === 'CallDeleted')
  const isUnknown = end === undefined || outcomeIn(end)?.kind === 'unknown'
  // The start has it in place of the reservation.
  if (isWithoutFigures(start!.data)) return { amount: decimalText(call.reserved), isUnknown }
  const ledger = new Ledger()
  for (const event of events) ledger.take(event)
  return { amount: decimalText(committed(ledger.sums(keysOf(call)[0]!))), isUnknown }
}
