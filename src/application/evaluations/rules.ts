import {
  evaluationRuleDecider,
  evaluationRulesStream,
  type EvaluationRules,
  type RuleContent,
} from '../../domain/evaluations/rules/rule.js'
import type { Query } from '../../domain/query/query.js'
import { commandsOf, readState } from '../../kernel/execute.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { callIds } from '../../projections/calls/pages.js'
import { requireProjectAdministrator } from '../access/rights.js'
import { requireBoundedFilter } from '../calls/filter.js'
import { Failure, invalidField } from '../failure.js'
import type { Principal } from '../principal.js'
import type { Services } from '../services.js'
import { requireScorers, type ObjectReads } from './referenced-objects.js'

type RuleServices = Pick<Services, 'eventStore' | 'ids' | 'access' | 'scoringTools'>

interface OfRule {
  readonly project_id: string
  readonly id: string
}

/** What a client writes of a rule. */
export type RuleFields = Omit<RuleContent, 'wb_user_id' | 'key_id' | 'filter'> & {
  readonly filter: Omit<RuleContent['filter'], 'query'> & { readonly query: Query | null }
}

export const rulesOf = (services: Pick<Services, 'eventStore'>, project: string): Promise<EvaluationRules> =>
  readState(services, evaluationRuleDecider, evaluationRulesStream(project))

/** @throws Failure for a rule that does not exist */
export const ruleIn = (rules: EvaluationRules, id: string): RuleContent => {
  const rule = rules.get(id)
  if (rule === undefined || rule.deleted)
    throw new Failure('not-found', 'Evaluation rule not found in this project.')
  return rule.content
}

const write = commandsOf(evaluationRuleDecider, ({ project_id }) => evaluationRulesStream(project_id))

/** Refuses what cannot be applied: scorers, a sample rate, or fields that calls do not have. */
const requireValid = async (
  { scoringTools }: RuleServices,
  reads: ObjectReads,
  projectId: string,
  { scorer_refs, sample_rate, filter }: Partial<RuleFields>,
): Promise<void> => {
  const rateRule = 'Value error, input should be greater than 0 and at most 1'
  if (sample_rate !== undefined && !(sample_rate > 0 && sample_rate <= 1))
    throw invalidField(['sample_rate'], 'value_error', rateRule)
  if (scorer_refs !== undefined) await requireScorers(scoringTools, reads, scorer_refs, ['scorer_refs'])
  if (filter === undefined) return
  const { op_names, trace_roots_only } = filter
  const callsFilter = { ...NO_FILTER, op_names, trace_roots_only, call_ids: ['-'] }
  requireBoundedFilter(callsFilter)
  await callIds(reads.reader)({
    projectId,
    filter: callsFilter,
    operation: filter.query?.$expr ?? null,
    position: 0n,
    sortBy: [],
    limit: 1,
    offset: null,
  })
}

/** The rule acts with the rights and budgets of the caller. */
const actingAs = ({ userId, keyId }: Principal) => ({ wb_user_id: userId, key_id: keyId })

export const createRule = async (
  services: RuleServices,
  reads: ObjectReads,
  principal: Principal,
  of: OfRule,
  fields: RuleFields,
) => {
  await requireValid(services, reads, of.project_id, fields)
  const rule = { ...fields, ...actingAs(principal) }
  return write(services, { type: 'CreateEvaluationRule', ...of, rule })
}

/** A member changes the rules that they made or changed last; those of others are for administrators of the project. */
const requireOwnRule = (
  { access }: RuleServices,
  principal: Principal,
  { project_id, id }: OfRule,
  rules: EvaluationRules,
): void => {
  const rule = rules.get(id)
  if (rule !== undefined && rule.content.wb_user_id !== principal.userId)
    requireProjectAdministrator(access, principal, project_id)
}

/** Absent fields keep their values. */
export const changeRule = async (
  services: RuleServices,
  reads: ObjectReads,
  principal: Principal,
  of: OfRule,
  fields: Partial<RuleFields>,
) => {
  const rules = await rulesOf(services, of.project_id)
  ruleIn(rules, of.id)
  requireOwnRule(services, principal, of, rules)
  await requireValid(services, reads, of.project_id, fields)
  const change = { ...fields, ...actingAs(principal) }
  return write(services, { type: 'ChangeEvaluationRule', ...of, change })
}

export const deleteRule = async (services: RuleServices, principal: Principal, of: OfRule) => {
  requireOwnRule(services, principal, of, await rulesOf(services, of.project_id))
  return write(services, { type: 'DeleteEvaluationRule', ...of })
}
