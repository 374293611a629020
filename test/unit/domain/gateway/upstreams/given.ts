import fc from 'fast-check'
import type { ServedModel, UpstreamContent } from '../../../../../src/domain/gateway/upstreams/content.js'

export const aModel = (id: string, more: Partial<ServedModel> = {}): ServedModel => ({
  id,
  upstream_id: id,
  aliases: [],
  checkpoint_id: null,
  price: null,
  concurrency: null,
  ...more,
})

export const aContent = (more: Partial<UpstreamContent> = {}): UpstreamContent => ({
  name: 'one',
  base_url: 'https://models.example/v1',
  models: [aModel('chat')],
  secret: null,
  timeouts: { connect_ms: 5000, first_byte_ms: 300_000, idle_ms: 120_000, total_ms: 1_200_000 },
  weight: 1,
  continuous_usage_stats: false,
  headers: null,
  query: null,
  stream_options: true,
  probe: false,
  enabled: true,
  apis: null,
  drop_untranslatable: false,
  ...more,
})

const NAMES = ['a', 'b', 'c', 'd']

/** Models whose names are all different, from few names, so that upstreams get in each other's way. */
export const someModels: fc.Arbitrary<readonly ServedModel[]> = fc
  .shuffledSubarray(NAMES, { minLength: 1 })
  .chain((names) =>
    fc.array(fc.boolean(), { minLength: names.length, maxLength: names.length }).map((isAlias) => {
      const models: ServedModel[] = []
      names.forEach((name, place) => {
        const last = models.at(-1)
        if (isAlias[place] === true && last !== undefined)
          models[models.length - 1] = { ...last, aliases: [...last.aliases, name] }
        else models.push(aModel(name))
      })
      return models
    }),
  )

export const someOwner = fc.constantFrom(null, 'red', 'blue')
