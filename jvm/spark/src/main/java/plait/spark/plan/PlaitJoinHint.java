// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan;

import org.apache.spark.sql.catalyst.plans.logical.JoinStrategyHint;
import scala.collection.immutable.Set;
import scala.collection.immutable.Set$;

/**
 * What a query says with {@code SYMMETRIC_HASH(a, b)} and {@code NO_SYMMETRIC_HASH(a, b)}, as a hint
 * of Spark's own kind: the optimizer carries it to the join as it carries BROADCAST.
 *
 * <p>It is Java because Scala seals {@link JoinStrategyHint}; where Spark looks at hints it asks for
 * those that it knows and passes over others.
 */
public final class PlaitJoinHint extends JoinStrategyHint {
  public static final PlaitJoinHint SYMMETRIC_HASH = new PlaitJoinHint("SYMMETRIC_HASH");
  public static final PlaitJoinHint NO_SYMMETRIC_HASH = new PlaitJoinHint("NO_SYMMETRIC_HASH");

  /** Nobody writes it: a query goes on with Spark's join that has stored its state. */
  public static final PlaitJoinHint CHECKPOINT_OF_SPARK = new PlaitJoinHint("CHECKPOINT_OF_SPARK");

  private final String name;

  private PlaitJoinHint(String name) {
    this.name = name;
  }

  @Override
  public String displayName() {
    return name;
  }

  @Override
  public Set<String> hintAliases() {
    return Set$.MODULE$.<String>empty();
  }
}
