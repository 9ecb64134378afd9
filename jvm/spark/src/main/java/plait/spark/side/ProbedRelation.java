// SPDX-License-Identifier: Apache-2.0
package plait.spark.side;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.joins.HashedRelation;
import scala.collection.Iterator;

/**
 * What Spark's hash joins look rows up in, open to be extended: its {@link HashedRelation} is sealed
 * for Scala, which javac does not know of. Only what those joins call is left to be written.
 */
public abstract class ProbedRelation implements HashedRelation {

  @Override
  public boolean keyIsUnique() {
    return false;
  }

  @Override
  public InternalRow getValue(InternalRow key) {
    throw new UnsupportedOperationException("only of unique keys");
  }

  @Override
  public Iterator<InternalRow> keys() {
    throw new UnsupportedOperationException("only of a relation by key alone");
  }

  /** What it stands on is Spark's own broadcast, which Spark closes. */
  @Override
  public void close() {}
}
