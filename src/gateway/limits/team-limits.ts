import { invalidBody, invalidField } from '../../application/failure.js'
import { rolesIn } from '../../domain/access/look-ups.js'
import { accountKey, periodOf } from '../../domain/gateway/limits/accounts.js'
import type { LimitContent } from '../../domain/gateway/limits/content.js'
import { limitDecider, limitsStream, type LimitCommand } from '../../domain/gateway/limits/limits.js'
import { scopeProblems, scopeText, type LimitScope } from '../../domain/gateway/limits/scope.js'
import { decimalText } from '../../domain/prices/decimal.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import type { GatewayServices } from '../gateway.js'
import { requireReady } from './refusals.js'

/** How long a write waits until this process itself has applied it. */
const KNOWN_WITHIN_MS = 2000

type LimitServices = Pick<GatewayServices, 'eventStore' | 'ids' | 'gateway'>

const write = (services: LimitServices, team: string, command: LimitCommand) => async (cause: Cause) => {
  const executed = await execute(services)(limitDecider, limitsStream(team), [command], cause)
  if (executed.position !== undefined)
    await services.gateway.ledgerFollower.reached(executed.position, KNOWN_WITHIN_MS)
  return executed
}

const requireValidScope = ({ gateway }: Pick<LimitServices, 'gateway'>, scope: LimitScope): void => {
  const problems = scopeProblems(scope)
  if (problems.length > 0) throw invalidBody(problems)
  requireReady(gateway.ledgerFollower)
}

/** Replaces the limits of a scope. */
export const chooseLimit = (
  services: LimitServices & Pick<GatewayServices, 'access'>,
  team: string,
  scope: LimitScope,
  content: LimitContent,
) => {
  requireValidScope(services, scope)
  if (!services.gateway.ledgerFollower.limitsOf(team).has(scopeText(scope)))
    requireKeyOf(services, team, scope)
  return write(services, team, { type: 'ChooseLimit', team, scope, content })
}

/** Reports a key of another team as unknown. */
const requireKeyOf = (
  { access }: Pick<GatewayServices, 'access'>,
  team: string,
  { key }: LimitScope,
): void => {
  if (key === null) return
  const directory = access.directory()
  const known = directory.keys.get(key)
  if (known === undefined || rolesIn(directory, known.user, team).length === 0)
    throw invalidField(
      ['scope', 'key'],
      'value_error',
      'Input should be the id of an API key of a member of the team',
    )
}

interface WriteOffRequest {
  readonly scope: LimitScope
  /** Null for the current month. */
  readonly period: string | null
  /** Null for all calls of the period. */
  readonly call_ids: readonly string[] | null
  readonly reason: string | null
}

/** The completions of a scope and period with unknown usage, and what writes off their costs. */
export const writeOffUnknownCosts = (
  services: LimitServices & Pick<GatewayServices, 'clock'>,
  team: string,
  { scope, period, call_ids, reason }: WriteOffRequest,
) => {
  requireValidScope(services, scope)
  const account = accountKey(
    team,
    scopeText(scope),
    period ?? periodOf('month', instantOf(services.clock.now())),
  )
  const chosen = call_ids === null ? undefined : new Set(call_ids)
  const completions = services.gateway.ledgerFollower.ledger
    .unknownIn(account)
    .filter(({ id }) => chosen?.has(id) ?? true)
  const calls = completions.map(({ project: project_id, id, reserved }) => ({
    project_id,
    id,
    amount: decimalText(reserved),
  }))
  const writeOff = { team, calls, reason }
  return { completions, run: write(services, team, { type: 'WriteOffUnknownCosts', writeOff }) }
}
