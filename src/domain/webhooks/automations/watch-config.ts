import * as E from 'fp-ts/lib/Either.js'
import type { Problem } from '../../../kernel/codec/problem.js'
import { PROJECT_RULE, projectName } from '../../../kernel/ids.js'
import type { CompilePattern } from '../../../kernel/ports/patterns.js'
import { askedFields } from '../../query/asked-fields.js'
import { shortened } from '../../query/errors.js'
import { nearestOf } from '../templates/nearest.js'
import { METADATA_PREFIX } from '../templates/variables.js'
import { COMMON_VARIABLES, fieldsFor, type ConditionField } from './condition-fields.js'
import type { AutomationCondition, AutomationContent, AutomationScope, EventType } from './events.js'

/** The part of an automation that decides when it fires. */
export type WatchConfig = Pick<AutomationContent, 'scope' | 'event' | 'run_filters' | 'query'>

/**
 * Fills in defaults, or returns the problems: missing fields, fields that do not apply to the event type, and invalid
 * values. Never quotes received values.
 */
export const completeWatchConfig = (
  compile: CompilePattern,
  team: string,
  proposed: WatchConfig,
): E.Either<readonly Problem[], WatchConfig> => {
  const scope = { ...proposed.scope, entity: proposed.scope.entity ?? team }
  const event = completed(proposed.event)
  const { user = null, name_pattern = null } = proposed.run_filters ?? {}
  const { query } = proposed
  const run_filters = user === null && name_pattern === null ? null : { user, name_pattern }
  const problems = [
    ...scopeProblems(team, scope),
    ...under('event', fieldProblems(proposed.event)),
    ...under('event', valueProblems(event)),
    ...placeProblems({ scope, event, run_filters, query }),
    ...patternProblems(compile, { scope, event, run_filters, query }),
    ...queryProblems(event.type, query),
  ]
  return problems.length === 0 ? E.right({ scope, event, run_filters, query }) : E.left(problems)
}

const problem = (loc: Problem['loc'], msg: string, type = 'value_error'): Problem => ({ loc, type, msg })

const under = (key: string, problems: readonly Problem[]): readonly Problem[] =>
  problems.map((one) => ({ ...one, loc: [key, ...one.loc] }))

const completed = (event: AutomationCondition): AutomationCondition => {
  const { defaults } = fieldsFor(event.type)
  const filled: Record<string, unknown> = { ...event }
  for (const [field, value] of Object.entries(defaults)) filled[field] ??= value
  const complete = filled as AutomationCondition
  return event.type === 'RUN_METRIC_CHANGE'
    ? { ...complete, prior_window: complete.prior_window ?? complete.window }
    : complete
}

const scopeProblems = (
  team: string,
  { type, entity, project, registry }: AutomationScope,
): readonly Problem[] => {
  const problems: Problem[] = []
  const meansNothing = (field: string) =>
    problems.push(problem(['scope', field], `Not allowed for scope type ${type}`, 'extra_forbidden'))
  const needs = (field: string) => problems.push(problem(['scope', field], 'Field required', 'missing'))
  if (entity !== team)
    problems.push(problem(['scope', 'entity'], 'Input should be the team of the automation'))
  if (type === 'project' && project === null) needs('project')
  if (type === 'registry' && registry === null) needs('registry')
  if (type !== 'project' && project !== null) meansNothing('project')
  if (type !== 'registry' && registry !== null) meansNothing('registry')
  if (project !== null && !projectName.is(project))
    problems.push(
      problem(
        ['scope', 'project'],
        `String should be the name of a project: ${PROJECT_RULE}`,
        'string_pattern_mismatch',
      ),
    )
  return problems
}

/** Null counts as absent, so a field that does not apply may be null. */
const fieldProblems = (event: AutomationCondition): readonly Problem[] => {
  const { required, defaults } = fieldsFor(event.type)
  return (Object.keys(event) as (keyof AutomationCondition)[]).flatMap((field): Problem[] => {
    if (field === 'type') return []
    const given = event[field] !== null
    if (required.includes(field)) return given ? [] : [problem([field], 'Field required', 'missing')]
    return given && !Object.hasOwn(defaults, field)
      ? [problem([field], `Not allowed for event type ${event.type}`, 'extra_forbidden')]
      : []
  })
}

const valueProblems = (event: AutomationCondition): readonly Problem[] => {
  const { type, aggregation, window, prior_window, threshold, change_amount, states, outcomes } = event
  const problems: Problem[] = []
  const add = (field: ConditionField, msg: string) => problems.push(problem([field], msg))
  const isWindowed = type === 'RUN_METRIC' || type === 'RUN_METRIC_CHANGE'
  if (isWindowed && aggregation === null && (window ?? 1) !== 1)
    add('window', 'Input should be 1 without an aggregation')
  if (isWindowed && aggregation === null && (prior_window ?? 1) !== 1)
    add('prior_window', 'Input should be 1 without an aggregation')
  if (type === 'RUN_METRIC_ZSCORE' && window !== null && window < 2)
    add('window', 'Input should be greater than or equal to 2')
  if (type === 'RUN_METRIC_ZSCORE' && threshold !== null && threshold <= 0)
    add('threshold', 'Input should be greater than 0')
  if (change_amount !== null && change_amount <= 0) add('change_amount', 'Input should be greater than 0')
  if (event.alias_pattern === '')
    problems.push(
      problem(
        ['alias_pattern'],
        'String should have at least 1 character: .* matches every alias',
        'string_too_short',
      ),
    )
  if (states?.length === 0) add('states', 'List should have at least 1 item after validation')
  if (outcomes?.length === 0) add('outcomes', 'List should have at least 1 item after validation')
  return problems
}

const placeProblems = ({ scope, event, run_filters }: WatchConfig): readonly Problem[] => {
  const { scopes } = fieldsFor(event.type)
  return [
    ...(scopes.includes(scope.type)
      ? []
      : [
          problem(
            ['scope', 'type'],
            `Input should be ${scopes.map((one) => `'${one}'`).join(' or ')} for event type ${event.type}`,
          ),
        ]),
    ...(run_filters === null || event.type.startsWith('RUN_')
      ? []
      : [problem(['run_filters'], `Not allowed for event type ${event.type}`, 'extra_forbidden')]),
  ]
}

/** A query may compare the variables of the event, but not how messages name things. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['artifact_version', 'call_url'])

const queryProblems = (type: EventType, query: WatchConfig['query']): readonly Problem[] => {
  if (query === null) return []
  const { variables, hasMetadata } = fieldsFor(type)
  const known = [...COMMON_VARIABLES, ...variables].filter((name) => !NOT_COMPARED.has(name))
  const isKnown = (name: string) =>
    known.some((one) => one === name) || (hasMetadata === true && name.startsWith(METADATA_PREFIX))
  return [...new Set(askedFields(query.$expr))]
    .filter((name) => !isKnown(name))
    .map((name) => {
      const nearest = nearestOf(name, known)
      const hint = nearest === null ? '' : ` Did you mean ${nearest}?`
      const list = [...known, ...(hasMetadata === true ? [`${METADATA_PREFIX}KEY`] : [])].join(', ')
      return problem(
        ['query'],
        `Field ${shortened(name)} is not a variable of ${type}.${hint} Use one of ${list}`,
      )
    })
}

const patternProblems = (compile: CompilePattern, { event, run_filters }: WatchConfig): readonly Problem[] =>
  (
    [
      [['event', 'alias_pattern'], event.alias_pattern],
      [['event', 'tag_pattern'], event.tag_pattern],
      [['event', 'evaluation_pattern'], event.evaluation_pattern],
      [['run_filters', 'name_pattern'], run_filters?.name_pattern ?? null],
    ] as const
  ).flatMap(([loc, source]) => {
    const compiled = source === null ? null : compile(source)
    return compiled !== null && 'error' in compiled
      ? [{ ...problem(loc, compiled.error), ctx: compiled.ctx }]
      : []
  })
