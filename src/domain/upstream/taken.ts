import type { ServedModel } from './content.js'
import type { Upstream, Upstreams } from './directory.js'

/**
 * Why an upstream may not serve its models under these names, if so. Several upstreams of one owner may serve one model;
 * a name that means one thing to a team must not come to mean another, so no owner takes a name that somebody else's
 * upstream has among those whom a team sees together. Names within one upstream are checked before.
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
