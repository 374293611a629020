import { oneOf } from '../../kernel/codec/leaves.js'

/** The SDKs that add a finished child's usage to its parent, by the name in the attributes. */
export const sdkSource = oneOf('js-sdk', 'python-sdk')

/** The writer of a call, as far as it affects usage: one of these SDKs, this service's gateway, or an exporter of OpenTelemetry. */
export const callSource = oneOf('js-sdk', 'python-sdk', 'gateway', 'otel')
