import fc from 'fast-check'

/** What leads somewhere in webhooks and automations, by the key that it stands under. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  team: ['home', 'home', 'home', 'default'],
  // Of these every process knows, without asking anybody, that it must not go there.
  url: ['https://127.0.0.1/in', 'http://127.0.0.1:8080/?a=b'],
  webhook: ['hook'],
  payload: ['{"alias":"${alias}","by":${event_author}}', '["${run_id}"]', '{}'],
  scope: [
    { type: 'project', project: 'first' },
    { type: 'project', entity: 'home', project: 'second' },
  ],
  event: [
    { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^prod' },
    { type: 'RUN_STATE', states: ['FAILED'] },
    { type: 'RUN_METRIC', metric: 'loss', comparison: '$lt', threshold: 1, aggregation: 'MIN', window: 5 },
  ],
  access_token: [null],
  secret: [null],
  retry_waits_s: [null, [1, 60]],
  run_filters: [null],
}

export const knownOfAutomations = (area: string, key: string): fc.Arbitrary<unknown> | undefined =>
  (area === 'webhooks' || area === 'automations') && Object.hasOwn(VALUES, key)
    ? fc.constantFrom(...VALUES[key]!)
    : undefined
