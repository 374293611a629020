import type { ServedModel } from './content.js'
import type { Upstream, Upstreams } from './directory.js'

/**
 * Why an upstream may not use its model names; undefined if it may. One owner's upstreams may share a model. A name
 * must mean one thing to each team, so it must not belong to another owner's upstream that the same team sees.
 * Duplicates within one upstream are checked earlier.
 */
export const takenBy = (upstreams: Upstreams, { id, team, content }: Upstream): string | undefined => {
  const others = [...upstreams.values()].filter((other) => other.id !== id)
  if (others.some((other) => other.team === team && other.content.name === content.name))
    return `An upstream named ${content.name} already exists.`
  const seen = others.filter((other) => other.team === null || team === null || other.team === team)
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
