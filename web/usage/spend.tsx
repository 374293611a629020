import { useMemo } from 'react'
import { usePlace } from '../kit/place.js'
import { UsageView } from './usage-view.js'

const DIMENSIONS = ['model', 'project', 'user', 'key', 'op']

/** What the projects of a team spend. */
export const Spend = () => {
  const { team } = usePlace()
  const scope = useMemo(() => ({ team, project: '' }), [team])
  return <UsageView scope={scope} dimensions={DIMENSIONS} initialBy="project,model" />
}
