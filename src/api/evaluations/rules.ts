import { presentReads } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, jsonObject, number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import {
  existingRules,
  MAX_RULES,
  ruleName,
  type EvaluationRules,
  type RuleContent,
} from '../../domain/evaluations/rules/rule.js'
import { query } from '../../domain/query/query.js'
import { changeRule, createRule, deleteRule, ruleIn, rulesOf } from '../../application/evaluations/rules.js'
import { definedFields } from '../../kernel/defined-fields.js'
import { inPath } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeProject, readProjectLog, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { idFor } from '../server/idempotency.js'

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

const ruleCodec = open('EvaluationRule', {
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

const ruleList = open('EvaluationRuleList', { required: { data: arrayOf(ruleCodec) } })

const ruleJson = (project_id: string, id: string, { key_id: _, ...content }: RuleContent) => ({
  id,
  project_id,
  ...content,
})

type RuleServices = Pick<
  Services,
  'eventStore' | 'ids' | 'sha256' | 'access' | 'reading' | 'throttle' | 'scoringTools'
>

const oneRule = (project: string, id: string, rules: EvaluationRules) =>
  ruleJson(project, id, ruleIn(rules, id))

const listRoute = (services: RuleServices): AnyRoute =>
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
        return { body: { data: rules.map(({ id, content }) => ruleJson(project, id, content)) } }
      },
  })

const createRoute = (services: RuleServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: PATH,
    summary:
      'Create a rule that scores calls as they end, as feedback. It applies to calls that end after its creation. ' +
      `A project has at most ${MAX_RULES} rules.`,
    body: newRule,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: [...alsoReads.errors, 'conflict', 'forbidden'],
    response: ruleCodec,
    project: inPath,
    handle: async (request) => {
      const { body, project, principal } = request
      const id = idFor(services, request, 0)
      const fields = { ...body, filter: body.filter ?? NO_CONDITIONS }
      const reads = presentReads(services, request)
      const write = await createRule(services, reads, principal, { project_id: project, id }, fields)
      return writing(write, ({ state }) => oneRule(project, id, state))
    },
  })

const readRoute = (services: RuleServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: `${PATH}/:id`,
    summary: 'Read an evaluation rule.',
    response: ruleCodec,
    project: inPath,
    handle:
      ({ project, params }) =>
      async () => ({ body: oneRule(project, params['id']!, await rulesOf(services, project)) }),
  })

const changeRoute = (services: RuleServices): AnyRoute =>
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
    response: ruleCodec,
    project: inPath,
    handle: async (request) => {
      const { body, project, principal, params } = request
      const id = params['id']!
      const reads = presentReads(services, request)
      const of = { project_id: project, id }
      const write = await changeRule(services, reads, principal, of, definedFields(body))
      return writing(write, ({ state }) => oneRule(project, id, state))
    },
  })

const deleteRoute = (services: RuleServices): AnyRoute =>
  changeProject(services, {
    method: 'delete',
    path: `${PATH}/:id`,
    summary:
      'Delete an evaluation rule permanently. The scores that it gave stay. Idempotent. A rule of another user needs the ' +
      'role project_administrator for the project.',
    errors: ['forbidden'],
    response: emptyResponse,
    project: inPath,
    handle: async ({ principal, project: project_id, params }) =>
      writing(await deleteRule(services, principal, { project_id, id: params['id']! })),
  })

/** Rules that score calls of a project as they end. */
export const evaluationRuleRoutes = (services: RuleServices): readonly AnyRoute[] => [
  listRoute(services),
  createRoute(services),
  readRoute(services),
  changeRoute(services),
  deleteRoute(services),
]

const NO_CONDITIONS = { op_names: null, trace_roots_only: false, query: null }
