import { presentPositions } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import type * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, jsonObject, number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import {
  evaluationRuleDecider,
  existingRules,
  MAX_RULES,
  type EvaluationRules,
  type EvaluationRuleCommand,
  evaluationRulesStream,
  ruleName,
  type RuleContent,
} from '../../domain/evaluations/rules/rule.js'
import type { Cause } from '../../kernel/event.js'
import { query } from '../../domain/query/query.js'
import { callIds } from '../../projections/calls/pages.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { execute, readState } from '../../kernel/execute.js'
import { definedFields } from '../webhooks/defined-fields.js'
import { inPath } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { requireProjectAdministrator } from '../../application/access/rights.js'
import { requireScorers } from '../../application/evaluations/referenced-objects.js'
import { Failure, invalidField } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import {
  alsoReads,
  changeProject,
  readProjectLog,
  writeProject,
  type ProjectRequest,
} from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { requireBoundedFilter } from '../calls/filter.js'
import { idFor } from '../server/generated-id.js'

const PATH = '/api/evaluation-rules/:entity/:project'

const filterFields = {
  op_names: nullable(arrayOf(string)),
  trace_roots_only: withDefault(boolean, false),
  query: nullable(query),
}
const newFilter = closed('NewEvaluationRuleFilter', { optional: filterFields })

const newRule = closed('NewEvaluationRule', {
  required: { name: ruleName, scorer_refs: arrayOf(string, 1) },
  optional: {
    filter: nullable(newFilter),
    sample_rate: withDefault(number, 1),
    enabled: withDefault(boolean, true),
  },
})

/** Absent fields keep their values. */
const ruleChange = closed('EvaluationRuleChange', {
  optional: {
    name: withDefault(ruleName, undefined),
    scorer_refs: withDefault(arrayOf(string, 1), undefined),
    filter: withDefault(newFilter, undefined),
    sample_rate: withDefault(number, undefined),
    enabled: withDefault(boolean, undefined),
  },
})

const ruleJson = open('EvaluationRule', {
  required: {
    id: string,
    project_id: string,
    name: string,
    filter: open('ShownEvaluationRuleFilter', {
      required: {
        op_names: nullable(arrayOf(string)),
        trace_roots_only: boolean,
        query: nullable(jsonObject),
      },
    }),
    sample_rate: number,
    scorer_refs: arrayOf(string),
    enabled: boolean,
    wb_user_id: string,
  },
})

const ruleList = open('EvaluationRuleList', { required: { data: arrayOf(ruleJson) } })

const shownRule = (project_id: string, id: string, { key_id: _, ...content }: RuleContent) => ({
  id,
  project_id,
  ...content,
})

const noSuchRule = (): Failure => new Failure('not-found', 'Evaluation rule not found in this project.')

type RuleServices = Pick<
  Services,
  'eventStore' | 'ids' | 'sha256' | 'access' | 'reading' | 'throttle' | 'scoringTools'
>

const rulesOf = async (services: Pick<Services, 'eventStore'>, project: string): Promise<EvaluationRules> =>
  await readState(services, evaluationRuleDecider, evaluationRulesStream(project))

const run =
  (services: Pick<Services, 'eventStore' | 'ids'>, command: EvaluationRuleCommand) => (cause: Cause) =>
    execute(services)(evaluationRuleDecider, evaluationRulesStream(command.project_id), [command], cause)

const shown = (project: string, id: string, rules: EvaluationRules) => {
  const rule = rules.get(id)
  if (rule === undefined || rule.deleted) throw noSuchRule()
  return shownRule(project, id, rule.content)
}

/** Refuses what cannot be applied: scorers, a sample rate, or fields that calls do not have. */
const requireValid = async (
  services: Pick<RuleServices, 'access' | 'reading' | 'scoringTools'>,
  request: ProjectRequest & Pick<RouteRequest, 'principal'>,
  { scorer_refs, sample_rate, filter }: Partial<t.TypeOf<typeof newRule>>,
): Promise<void> => {
  const rateRule = 'Value error, input should be greater than 0 and at most 1'
  if (sample_rate !== undefined && !(sample_rate > 0 && sample_rate <= 1))
    throw invalidField(['sample_rate'], 'value_error', rateRule)
  const { reader, project: projectId } = request
  const reads = { reader, positionOf: presentPositions(services, request) }
  if (scorer_refs !== undefined)
    await requireScorers(services.scoringTools, reads, scorer_refs, ['scorer_refs'])
  if (filter === undefined || filter === null) return
  const { op_names, trace_roots_only } = filter
  const asked = { ...NO_FILTER, op_names, trace_roots_only, call_ids: ['-'] }
  requireBoundedFilter(asked)
  await callIds(reader)({
    projectId,
    filter: asked,
    operation: filter.query?.$expr ?? null,
    position: 0n,
    sortBy: [],
    limit: 1,
    offset: null,
  })
}

const listRules = (services: RuleServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: PATH,
    summary: 'List the evaluation rules of a project, in the order of their creation.',
    response: ruleList,
    project: inPath,
    handle:
      ({ project }) =>
      async () => {
        const rules = existingRules(await rulesOf(services, project))
        return { body: { data: rules.map(({ id, content }) => shownRule(project, id, content)) } }
      },
  })

const createRule = (services: RuleServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: PATH,
    summary:
      'Create a rule that scores calls as they end, as feedback. It applies to calls that end after its creation. ' +
      `A project has at most ${MAX_RULES} rules.`,
    body: newRule,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: [...alsoReads.errors, 'conflict', 'forbidden'],
    response: ruleJson,
    project: inPath,
    handle: async (request) => {
      const { body, project, principal } = request
      await requireValid(services, request, body)
      const id = idFor(services, request, 0)
      const rule: RuleContent = {
        ...body,
        filter: contentOfFilter(body.filter ?? NO_CONDITIONS),
        wb_user_id: principal.userId,
        key_id: principal.keyId,
      }
      return writing(
        run(services, { type: 'CreateEvaluationRule', project_id: project, id, rule }),
        ({ state }) => shown(project, id, state),
      )
    },
  })

const readRule = (services: RuleServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: `${PATH}/:id`,
    summary: 'Read an evaluation rule.',
    response: ruleJson,
    project: inPath,
    handle:
      ({ project, params }) =>
      async () => ({ body: shown(project, params['id']!, await rulesOf(services, project)) }),
  })

/** A member changes the rules that they made or changed last; those of others are for administrators of the project. */
const requireOwnRule = (
  { access }: Pick<RuleServices, 'access'>,
  { project, params, principal }: Pick<RouteRequest, 'params' | 'principal'> & { readonly project: string },
  rules: EvaluationRules,
): void => {
  const rule = rules.get(params['id']!)
  if (rule !== undefined && rule.content.wb_user_id !== principal.userId)
    requireProjectAdministrator(access, principal, project)
}

const changeRule = (services: RuleServices): AnyRoute =>
  writeProject(services, {
    method: 'patch',
    path: `${PATH}/:id`,
    summary:
      'Update an evaluation rule. Absent fields keep their values; filter is replaced as a whole. From then on it ' +
      'acts with the rights and budgets of the caller. A rule of another user needs the role project_administrator for ' +
      'the project.',
    body: ruleChange,
    requestHeaders: alsoReads.requestHeaders,
    errors: [...alsoReads.errors, 'conflict', 'forbidden'],
    response: ruleJson,
    project: inPath,
    handle: async (request) => {
      const { body, project, principal, params } = request
      const id = params['id']!
      const change = definedFields(body)
      const rules = await rulesOf(services, project)
      shown(project, id, rules)
      requireOwnRule(services, request, rules)
      await requireValid(services, request, change)
      const { filter, ...others } = change
      const command: EvaluationRuleCommand = {
        type: 'ChangeEvaluationRule',
        project_id: project,
        id,
        change: {
          ...others,
          ...(filter === undefined ? {} : { filter: contentOfFilter(filter) }),
          wb_user_id: principal.userId,
          key_id: principal.keyId,
        },
      }
      return writing(run(services, command), ({ state }) => shown(project, id, state))
    },
  })

const deleteRule = (services: RuleServices): AnyRoute =>
  changeProject(services, {
    method: 'delete',
    path: `${PATH}/:id`,
    summary:
      'Delete an evaluation rule permanently. The scores that it gave stay. Idempotent. A rule of another user needs the ' +
      'role project_administrator for the project.',
    errors: ['forbidden'],
    response: emptyResponse,
    project: inPath,
    handle: async (request) => {
      const { project, params } = request
      requireOwnRule(services, request, await rulesOf(services, project))
      return writing(run(services, { type: 'DeleteEvaluationRule', project_id: project, id: params['id']! }))
    },
  })

/** Rules that score calls of a project as they end. */
export const evaluationRuleRoutes = (services: RuleServices): readonly AnyRoute[] => [
  listRules(services),
  createRule(services),
  readRule(services),
  changeRule(services),
  deleteRule(services),
]

const NO_CONDITIONS: t.TypeOf<typeof newFilter> = { op_names: null, trace_roots_only: false, query: null }

const contentOfFilter = ({
  op_names,
  trace_roots_only,
  query: asked,
}: t.TypeOf<typeof newFilter>): RuleContent['filter'] => ({ op_names, trace_roots_only, query: asked })
