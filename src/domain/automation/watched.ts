import * as E from 'fp-ts/lib/Either.js'
import type { Problem } from '../codec/problem.js'
import { projectId } from '../ids.js'
import type { CompilePattern } from '../ports/patterns.js'
import { fieldsFor, type ConditionField } from './condition-fields.js'
import type { AutomationCondition, AutomationContent, AutomationScope } from './events.js'

/** What of an automation says when it fires. */
export type Watched = Pick<AutomationContent, 'scope' | 'event' | 'run_filters'>

/**
 * Completes what an automation of a team is to watch for, or says which fields are missing, mean nothing for its type of
 * event, or have values that they cannot have there. Received values are never quoted.
 */
export const watchedBy = (
  compile: CompilePattern,
  team: string,
  proposed: Watched,
): E.Either<readonly Problem[], Watched> => {
  const scope = { ...proposed.scope, entity: proposed.scope.entity ?? team }
  const event = completed(proposed.event)
  const { user = null, name_pattern = null } = proposed.run_filters ?? {}
  const run_filters = user === null && name_pattern === null ? null : { user, name_pattern }
  const problems = [
    ...scopeProblems(team, scope),
    ...under('event', fieldProblems(proposed.event)),
    ...under('event', valueProblems(event)),
    ...placeProblems({ scope, event, run_filters }),
    ...patternProblems(compile, { scope, event, run_filters }),
  ]
  return problems.length === 0 ? E.right({ scope, event, run_filters }) : E.left(problems)
}

const problem = (loc: Problem['loc'], msg: string, type = 'value_error'): Problem => ({ loc, type, msg })

const under = (key: string, problems: readonly Problem[]): readonly Problem[] =>
  problems.map((one) => ({ ...one, loc: [key, ...one.loc] }))

const completed = (event: AutomationCondition): AutomationCondition => {
  const { usual } = fieldsFor(event.type)
  const filled: Record<string, unknown> = { ...event }
  for (const [field, value] of Object.entries(usual)) filled[field] ??= value
  const complete = filled as unknown as AutomationCondition
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
  if (project !== null && !projectId.is(`${team}/${project}`))
    problems.push(
      problem(
        ['scope', 'project'],
        'String should have 1 to 128 letters, digits, dots, underscores or hyphens',
        'string_pattern_mismatch',
      ),
    )
  return problems
}

/** Null and absent are one here: a field that means nothing may be said to be null. */
const fieldProblems = (event: AutomationCondition): readonly Problem[] => {
  const { needed, usual } = fieldsFor(event.type)
  return (Object.keys(event) as (keyof AutomationCondition)[]).flatMap((field): Problem[] => {
    if (field === 'type') return []
    const given = event[field] !== null
    if (needed.includes(field)) return given ? [] : [problem([field], 'Field required', 'missing')]
    return given && !Object.hasOwn(usual, field)
      ? [problem([field], `Not allowed for event type ${event.type}`, 'extra_forbidden')]
      : []
  })
}

const valueProblems = (event: AutomationCondition): readonly Problem[] => {
  const { type, aggregation, window, prior_window, threshold, change_amount, states } = event
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
  if (states?.length === 0) add('states', 'List should have at least 1 item after validation')
  return problems
}

const placeProblems = ({ scope, event, run_filters }: Watched): readonly Problem[] => {
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

const patternProblems = (compile: CompilePattern, { event, run_filters }: Watched): readonly Problem[] =>
  (
    [
      [['event', 'alias_pattern'], event.alias_pattern],
      [['event', 'tag_pattern'], event.tag_pattern],
      [['run_filters', 'name_pattern'], run_filters?.name_pattern ?? null],
    ] as const
  ).flatMap(([loc, source]) => {
    const compiled = source === null ? null : compile(source)
    return compiled !== null && 'error' in compiled ? [problem(loc, compiled.error)] : []
  })
