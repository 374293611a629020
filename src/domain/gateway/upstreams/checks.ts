import type { Problem } from '../../../kernel/codec/problem.js'
import { urlProblem } from '../../secrets/credentials.js'
import { checkpointVariablesIn, isCheckpointVariable } from './checkpoint-name.js'
import type { UpstreamContent, ServedModel } from './content.js'
import type { Upstream, Upstreams } from './directory.js'

const MOST_MODELS = 500
const MOST_ALIASES = 50

/** Validation beyond the types of the fields. Addresses are never quoted, since they may hold credentials. */
export const upstreamProblems = ({ base_url, models = [] }: Partial<UpstreamContent>): readonly Problem[] => {
  const problems: Problem[] = []
  const add = (loc: Problem['loc'], msg: string) => problems.push({ loc, type: 'value_error', msg })
  const wrongUrl = base_url === undefined ? undefined : baseUrlProblem(base_url)
  if (wrongUrl !== undefined) add(['base_url'], wrongUrl)
  if (models.length > MOST_MODELS) add(['models'], `List should have at most ${MOST_MODELS} items`)
  const seen = new Set<string>()
  for (const [place, { id, upstream_id, checkpoint_id, aliases }] of models.slice(0, MOST_MODELS).entries()) {
    if (aliases.length > MOST_ALIASES)
      add(['models', place, 'aliases'], `List should have at most ${MOST_ALIASES} items`)
    if (!isName(upstream_id)) add(['models', place, 'upstream_id'], NO_NAME)
    const wrongTemplate = checkpoint_id === null ? undefined : templateProblem(checkpoint_id)
    if (wrongTemplate !== undefined) add(['models', place, 'checkpoint_id'], wrongTemplate)
    for (const [at, name] of [id, ...aliases.slice(0, MOST_ALIASES)].entries()) {
      const loc = at === 0 ? ['models', place, 'id'] : ['models', place, 'aliases', at - 1]
      if (!isName(name)) add(loc, NO_NAME)
      else if (seen.has(name)) add(loc, 'Duplicate name')
      seen.add(name)
    }
  }
  return problems
}

const NO_NAME = 'Input should be a name without control characters or surrounding whitespace'

const isName = (name: string): boolean => name !== '' && name.trim() === name && !/\p{Cc}/u.test(name)

const templateProblem = (template: string): string | undefined => {
  if (!isName(template)) return NO_NAME
  const variables = checkpointVariablesIn(template)
  const unknown = variables.find((variable) => !isCheckpointVariable(variable))
  if (unknown !== undefined) return `There is no variable ${unknown}: use entity, project, model and step`
  return variables.includes('model') && variables.includes('step')
    ? undefined
    : 'Input should have the variables ${model} and ${step}'
}

const baseUrlProblem = (text: string): string | undefined =>
  urlProblem(text, 'a secret') ??
  (/[?#]/.test(text) ? 'A base URL should not have a query or a fragment' : undefined)

/**
 * Why an upstream may not use its model names; undefined if it may. One owner's upstreams may share a model. A team may
 * not use a name of the operator's, which would hide its model. The operator may use names of teams, so that no team can
 * prevent it from offering a model. Duplicates within one upstream are checked earlier.
 */
export const nameConflict = (upstreams: Upstreams, { id, team, content }: Upstream): string | undefined => {
  const seen: Upstream[] = []
  // A plain loop: there may be thousands, nearly all of other teams.
  for (const other of upstreams.values())
    if ((other.team === null || other.team === team) && other.id !== id) seen.push(other)
  if (seen.some((other) => other.team === team && other.content.name === content.name))
    return `An upstream named ${content.name} already exists.`
  const meant = new Map(content.models.flatMap((model) => namesOf(model).map((name) => [name, model.id])))
  for (const other of seen)
    for (const served of other.content.models)
      for (const name of namesOf(served)) {
        const modelId = meant.get(name)
        const isSameModel = other.team === team && served.id === modelId
        if (modelId !== undefined && !isSameModel)
          return `Another upstream already serves a model named ${name}.`
      }
  return undefined
}

const namesOf = ({ id, aliases }: ServedModel): readonly string[] => [id, ...aliases]
