import { useQuery } from '@tanstack/react-query'
import { HistoryLink } from '../history/history-link.js'
import { textOf } from '../kit/api.js'
import { memberAt, spanText, stringOf, valueAt } from '../kit/json-scan.js'
import { CopyButton } from '../kit/copy.js'
import { JsonView } from '../kit/json-view.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'

/** A version of a published object or op, where the links of the `weave` packages lead. */
export const ObjectPage = () => {
  const { projectId } = usePlace()
  const name = useIdInPath('name')
  const version = useIdInPath('version')
  useTitle(`${name}:${version}`)
  const found = useQuery({
    queryKey: ['object', projectId, name, version],
    queryFn: ({ signal }) =>
      textOf('/obj/read', { project_id: projectId, object_id: name, digest: version }, signal),
  })
  if (found.isError)
    return (
      <div className="page">
        <Failed error={found.error} what="The version" onRetry={() => void found.refetch()} />
      </div>
    )
  if (found.isPending)
    return (
      <div className="page">
        <Loading what="the version" />
      </div>
    )
  const text = found.data
  const root = valueAt(text, 0)
  const member = (field: string) => {
    const span = memberAt(text, root, 'obj', field)
    return span === undefined ? 'null' : spanText(text, span)
  }
  const digest = stringOf(member('digest'))
  return (
    <div className="page">
      <div className="bar">
        <h1>{name}</h1>
        <span className="secondary">v{member('version_index')}</span>
        <span className="spacer" />
        <HistoryLink object={name} />
        <CopyButton text={`weave:///${projectId}/${stringOf(member('kind'))}/${name}:${digest}`}>
          Copy the reference
        </CopyButton>
      </div>
      <dl className="facts">
        <dt>Created</dt>
        <dd>
          <Time at={stringOf(member('created_at'))} />
        </dd>
        <dt>Digest</dt>
        <dd className="mono">{digest}</dd>
        <dt>Class</dt>
        <dd>{member('leaf_object_class') === 'null' ? '—' : stringOf(member('leaf_object_class'))}</dd>
      </dl>
      <h2>Value</h2>
      <JsonView text={member('val')} label="Value" />
    </div>
  )
}
